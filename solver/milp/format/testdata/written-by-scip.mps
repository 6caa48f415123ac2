* SCIP STATISTICS
*   Problem name     : unnamed
*   Variables        : 6 (1 binary, 2 integer, 0 implicit integer, 3 continuous)
*   Constraints      : 4
NAME          unnamed
OBJSENSE
  MIN
ROWS
 N  Obj 
 L  r0 
 L  r1 
 L  r2 
 E  r3 
COLUMNS
    INTSTART  'MARKER'                            'INTORG'                           
    x         Obj                             -3  r0                               1 
    x         r2                               1 
    n         r0                               1  Obj                             -4 
    k         Obj                              1  r2                               1 
    INTEND    'MARKER'                            'INTEND'                           
    y         Obj                           -0.5  r1                               1 
    z         Obj                              2  r1                               1 
    w         Obj                              0  r3                               1 
RHS
    RHS       r0                               2  r1                               3 
    RHS       r2                              10  r3                               3 
RANGES
    RANGE     r1                               5 
BOUNDS
 BV Bound     x                                  
 UP Bound     n                                8 
 LO Bound     k                                2 
 PL Bound     k                                  
 FR Bound     y                                  
 MI Bound     z                                  
 UP Bound     z                                4 
 PL Bound     w                                  
ENDATA