*<meta creator='lp_solve v5.5'>
*<meta rows=4>
*<meta columns=6>
*<meta equalities=1>
*<meta integers=3>
*<meta origsense='MIN'>
*
NAME          unnamed 
ROWS
 N  obj     
 L  r0      
 G  r1      
 L  r2      
 E  r3      
COLUMNS
    MARK0000  'MARKER'                 'INTORG'
    x         obj       -3.000000000   r0        1.0000000000
    x         r2        1.0000000000
    n         obj       -4.000000000   r0        1.0000000000
    k         obj       1.0000000000   r2        1.0000000000
    MARK0001  'MARKER'                 'INTEND'
    y         obj       -0.500000000   r1        1.0000000000
    z         obj       2.0000000000   r1        1.0000000000
    w         r3        1.0000000000
RHS
    RHS       r0        2.0000000000   r1        -2.000000000
    RHS       r2        10.000000000   r3        3.0000000000
RANGES
    RGS       r1        5.0000000000
BOUNDS
 BV BND       x       
 LO BND       n         0.0000000000
 UP BND       n         8.0000000000
 LO BND       k         2.0000000000
 FR BND       y       
 MI BND       z       
 UP BND       z         4.0000000000
ENDATA
