NAME        range
ROWS
 N  obj     
 L  r0      
 L  r1      
 L  r2      
 E  r3      
COLUMNS
    MARK0000  'MARKER'                 'INTORG'
    x         obj       -3
    x         r0        1
    x         r2        1
    n         obj       -4
    n         r0        1
    k         obj       1
    k         r2        1
    MARK0001  'MARKER'                 'INTEND'
    y         obj       -0.5
    y         r1        1
    z         obj       2
    z         r1        1
    w         r3        1
RHS
    RHS_V     r0        2
    RHS_V     r1        3
    RHS_V     r2        10
    RHS_V     r3        3
RANGES
    RANGE     r1        5
BOUNDS
 BV BOUND     x       
 UI BOUND     n         8
 LI BOUND     k         2
 FR BOUND     y       
 MI BOUND     z       
 UP BOUND     z         4
ENDATA
