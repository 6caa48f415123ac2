* Problem:    unnamed
* Class:      MIP
* Rows:       4
* Columns:    6 (3 integer, 1 binary)
* Non-zeros:  7
* Format:     Free MPS
*
NAME unnamed
ROWS
 N R0000000
 L r0
 E r1
 L r2
 E r3
COLUMNS
 M0000001 'MARKER' 'INTORG'
 x R0000000 -3 r0 1
 x r2 1
 n R0000000 -4 r0 1
 k R0000000 1 r2 1
 M0000002 'MARKER' 'INTEND'
 y R0000000 -0.5 r1 1
 z R0000000 2 r1 1
 w r3 1
RHS
 RHS1 r0 2 r1 -2
 RHS1 r2 10 r3 3
RANGES
 RNG1 r1 5
BOUNDS
 UP BND1 x 1
 UP BND1 n 8
 LO BND1 k 2
 PL BND1 k
 FR BND1 y
 MI BND1 z
 UP BND1 z 4
ENDATA
