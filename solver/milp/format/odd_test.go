package format_test

import (
	"fmt"
	"strings"
)

// odd is a model with something that readers and writers of other programs have gone wrong with, as free MPS, and its
// optimum by hand.
type odd struct {
	name string
	mps  string // without NAME and ENDATA; CONSTANT is the objective's with the sign that the solver reads
	lp   string // the same for CBC and GLPK if it maximises, since they read no OBJSENSE
	want float64
}

// words are names that are keywords of LP files in some solver, or look like something else.
const words = `free inf infinity st bounds bound subject such min max maximize integer integers int gen general ` +
	`generals bin binary
	binaries end sos1 sos2 sec semi semis sin sos lazy user to that nan rhs obj E e1 e b.1 x(1) x[1,2] x#1 x~1 a/b 1x ` +
	`_y a'b x|y x{1}
	x!y x%y x&y x@y x$y Subject End BOUNDS s.t. pwlobj cuts constraints minimize`

// wordy is a model with a variable of each name, of which every third is integer.
func wordy() odd {
	var columns, bounds strings.Builder
	names := strings.Fields(words)
	for k, name := range names {
		if k%3 == 0 {
			columns.WriteString(" M 'MARKER' 'INTORG'\n")
		}
		fmt.Fprintf(&columns, " %s cost -1 c1 1\n", name)
		if k%3 == 0 {
			columns.WriteString(" M 'MARKER' 'INTEND'\n")
		}
		fmt.Fprintf(&bounds, " LO BND %s -1\n UP BND %s 2\n", name, name)
	}
	return odd{name: "every word", want: -2 * float64(len(names)),
		mps: "ROWS\n N cost\n L c1\nCOLUMNS\n" + columns.String() + "RHS\n RHS c1 1000\nBOUNDS\n" + bounds.String()}
}

// oddModels are separable, or nearly, so that the optimum can be seen.
func oddModels() []odd {
	return []odd{
		wordy(),
		{name: "unused columns", want: -8.5, mps: `ROWS
 N obj
 L c1
COLUMNS
 a obj -1 c1 1
 M 'MARKER' 'INTORG'
 k obj -2 c1 1
 idle obj 0
 M 'MARKER' 'INTEND'
 z obj 0
 y obj 0
RHS
 RHS c1 4.5
BOUNDS
 UP BND a 0.5
 UP BND k 7
 LO BND idle -2
 UP BND idle 5
 LO BND z 1
 UP BND z 2
 FR BND y
`},
		{name: "fixed binaries", want: -2, mps: `ROWS
 N obj
 L c1
COLUMNS
 M 'MARKER' 'INTORG'
 off obj -5 c1 1
 zero obj -7 c1 1
 on obj 1 c1 1
 open obj -3 c1 1
 M 'MARKER' 'INTEND'
RHS
 RHS c1 3
BOUNDS
 FX BND off 0
 UP BND zero 0
 FX BND on 1
 BV BND open
`},
		{name: "negative upper bounds", want: -7 - 9 + 2 + 1.5, mps: `ROWS
 N obj
 G c1
COLUMNS
 M 'MARKER' 'INTORG'
 i obj 1 c1 1
 j obj -1 c1 1
 M 'MARKER' 'INTEND'
 x obj 1 c1 1
 y obj -1
RHS
 RHS c1 -100
BOUNDS
 LO BND i -7.0
 UP BND i -3
 MI BND j
 UP BND j -2
 LO BND x -9
 UP BND x -4
 MI BND y
 UP BND y -1.5
`},
		{name: "empty rows and columns", want: 3, mps: `ROWS
 N obj
 L none
 G nothing
 E zero
 G c1
COLUMNS
 x obj 1.5 c1 1
 hollow obj 0
 M 'MARKER' 'INTORG'
 hole obj 0
 M 'MARKER' 'INTEND'
RHS
 RHS none 3 nothing -2
 RHS c1 2
BOUNDS
 UP BND hole 9
`},
		{name: "infinite and free bounds", want: -6 - 3.5, mps: `ROWS
 N obj
 G c1
 L c2
COLUMNS
 f obj 1 c1 1
 m obj 1 c2 -1
 M 'MARKER' 'INTORG'
 g c1 0.5
 M 'MARKER' 'INTEND'
 p obj 0 c2 1
RHS
 RHS c1 -5.5 c2 3.5
BOUNDS
 FR BND f
 MI BND m
 UP BND m 8
 LO BND g -4
 UP BND g 1
 PL BND p
`},
		{name: "ranges", want: 1 + 6 - 4 - 2, mps: `ROWS
 N obj
 L l
 G g
COLUMNS
 x obj 1 l 1
 y obj -1 g 1
 w obj 1 l 0.5
 v obj 1
RHS
 RHS l 4 g 1
RANGES
 RNG l 3 g 3
BOUNDS
 UP BND w 0
 LO BND v 4
`},
		{name: "ranges of equations", want: 3 - 7 + 5 - 5, mps: `ROWS
 N obj
 E down
 E up
 E low
 E even
COLUMNS
 x obj 1 down 1
 y obj -1 up 1
 z obj 1 low 1
 w obj -1 even 1
RHS
 RHS down 5 up 5
 RHS low 5 even 5
RANGES
 RNG down -2 up 2
 RNG low 4
`},
		{name: "a constant", want: 2 + 7.25, mps: `ROWS
 N obj
 G c1
COLUMNS
 x obj 1 c1 1
RHS
 RHS obj CONSTANT c1 2
`},
		{name: "names that are keywords", want: 2*2 + 3*2 + 1 - 3 - 4 - 5 - 6 - 1 - 2, mps: `ROWS
 N cost
 G st
 L end
 L bounds
COLUMNS
 user cost 2 st 1
 lazy cost 3 st 1
 sin cost 1 st 1
 M 'MARKER' 'INTORG'
 end cost -1 end 1
 gen cost -1 bounds 1
 Binary cost -1 bounds 1
 max cost -1 bounds 1
 semi cost -1 bounds 1
 sos cost -1 end 1
 M 'MARKER' 'INTEND'
RHS
 RHS st 5 end 100
 RHS bounds 100
BOUNDS
 UP BND user 2
 UP BND lazy 2
 UP BND sin 1
 UP BND end 3
 UP BND gen 4
 UP BND Binary 5
 UP BND max 6
 UP BND semi 1
 UP BND sos 2
`},
		{name: "names that look alike", want: -1 - 2 - 3 - 4 - 5 - 6, mps: `ROWS
 N obj
 L x
 L X
COLUMNS
 x obj -1 x 1
 X obj -1 x 1
 x1 obj -1 x 1
 x_1 obj -1 X 1
 x.1 obj -1 X 1
 x11 obj -1 X 1
RHS
 RHS x 100 X 100
BOUNDS
 UP BND x 1
 UP BND X 2
 UP BND x1 3
 UP BND x_1 4
 UP BND x.1 5
 UP BND x11 6
`},
		{name: "integers without an upper bound", want: -12 - 4 + 2, mps: `ROWS
 N obj
 L c1
 L c2
COLUMNS
 M 'MARKER' 'INTORG'
 i obj -1 c1 1
 j obj 1 c2 1
 k obj 1 c2 -1
 M 'MARKER' 'INTEND'
RHS
 RHS c1 12.5 c2 9
BOUNDS
 PL BND i
 LO BND j -4
 PL BND j
 LO BND k 2
 PL BND k
`},
		{name: "a free row", want: -4, mps: `ROWS
 N obj
 L c1
 N spare
COLUMNS
 x obj -1 c1 1
 x spare 3
 y spare 1 c1 1
RHS
 RHS c1 4
`},
		{name: "digits", want: 123456.78125*1000 + 0.0009765625*3 - 1e9, mps: `ROWS
 N obj
 G c1
 L c2
COLUMNS
 x obj 1000 c1 1
 y obj 0.0009765625 c1 0
 z obj -1 c2 1e-3
RHS
 RHS c1 123456.78125 c2 1e6
BOUNDS
 FX BND y 3
`},
		{name: "maximise a constant", want: 4 + 7.25, mps: `OBJSENSE
    MAX
ROWS
 N obj
 L c1
COLUMNS
 x obj 1 c1 1
RHS
 RHS obj CONSTANT c1 4
`, lp: `Maximize
 obj: x + 7.25 one
Subject To
 c1: x <= 4
Bounds
 one = 1
End
`},
		{name: "maximise", want: 3*4 + 2*5 - 1 + 6, mps: `OBJSENSE
    MAX
ROWS
 N obj
 L c1
 E c2
COLUMNS
 M 'MARKER' 'INTORG'
 a obj 3 c1 1
 M 'MARKER' 'INTEND'
 b obj 2 c1 1
 c obj -1 c2 1
 n obj -1
RHS
 RHS c1 9.25 c2 1
BOUNDS
 UP BND a 4
 UP BND b 5
 LO BND n -6
`, lp: `Maximize
 obj: 3 a + 2 b - c - n
Subject To
 c1: a + b <= 9.25
 c2: c = 1
Bounds
 a <= 4
 b <= 5
 n >= -6
General
 a
End
`},
	}
}
