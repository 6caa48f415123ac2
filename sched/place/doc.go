// Package place has what policies share: [Placer] puts gangs on the free resources of a snapshot's nodes, [Refiner]
// divides nodes into those that jobs tell apart, [Holders] says who holds the room that others wait for, and
// [PlanAhead] chooses a window and slots.
//
// It decides nothing: which job starts where and when is for a policy. It never changes the snapshot it is shown, and
// reads no clock.
package place
