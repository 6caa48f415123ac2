NAME everything FREE
OBJSENSE
    MAX
ROWS
 N obj
 L cap
 G range
 G range_hi
 E c3
 N none
 G empty
 G crossing
 L crossing_hi
 G inexact
 L inexact_hi
 L fromabove
COLUMNS
 MARKER 'MARKER' 'INTORG'
 pick obj 3
 pick cap 2
 pick crossing 1
 pick crossing_hi 1
 pick inexact 1
 pick inexact_hi 1
 x1_ obj 4
 x1_ cap 3
 x1_ c3 1
 MARKER 'MARKER' 'INTEND'
 x2 obj 0.1
 x2 range 1
 x3 obj -1
 x3 cap -1
 x3 range_hi 1.2345678901234567e+07
 x4 obj 0.3333333333333333
 x4 none 1
 x5 obj 0
 MARKER 'MARKER' 'INTORG'
 x1 obj -2
 x1 range 1e-07
 MARKER 'MARKER' 'INTEND'
 x7 c3 1
 MARKER 'MARKER' 'INTORG'
 y.z_1 obj -1e-09
 y.z_1 range_hi 1
 y.z_1 fromabove 1
 MARKER 'MARKER' 'INTEND'
 ~offset obj 7.25
RHS
 RHS cap 5
 RHS range -2
 RHS range_hi 1
 RHS c3 4
 RHS empty -1
 RHS crossing 2
 RHS crossing_hi 1
 RHS inexact -9.007199254740991e+15
 RHS inexact_hi 9.00719925474099e+15
 RHS fromabove 0.1
RANGES
 RNG range 5
 RNG fromabove 1e+16
BOUNDS
 BV BND pick
 PL BND x1_
 LO BND x2 -3
 UP BND x2 1e+21
 FR BND x3
 MI BND x4
 UP BND x4 -2
 FX BND x5 2.5
 LO BND x1 -5
 PL BND x1
 UP BND x7 9
 FR BND y.z_1
 FX BND ~offset 1
ENDATA
