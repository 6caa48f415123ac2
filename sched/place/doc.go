// Package place has what policies share: [Placer] puts gangs on free resources of a snapshot's nodes, [Refiner]
// computes the common refinement of equivalence sets, [Holders] says who holds the room that others wait for, and
// [PlanAhead] suggests a plan-ahead window and slot length.
//
// It decides nothing: policies decide which job starts where and when. It never changes a snapshot, and reads no clock.
package place
