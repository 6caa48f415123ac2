// Package cuts finds inequalities that every plan of whole tasks and whole gangs keeps and the linear relaxation does
// not: mixed-integer rounding cuts with variable bounds (Nemhauser and Wolsey, 1990; Marchand and Wolsey, 2001) of
// capacity in a slot, in one partition or several. [Separator] is given a solution of the relaxation, and adds what
// it finds to a list of [relax.Cuts]; a new kind of cut is added there.
package cuts
