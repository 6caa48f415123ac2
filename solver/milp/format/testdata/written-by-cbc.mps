NAME          unnamed 
ROWS
 N  OBJROW
 L  r0
 L  r1
 L  r2
COLUMNS
    x         OBJROW     -3.           r0        1.          
    x         r2        1.          
    n         OBJROW     -4.           r0        1.          
    k         OBJROW    1.             r2        1.          
    y         OBJROW     -0.5          r1        1.          
    z         OBJROW    2.             r1        1.          
RHS
    RHS       r0        2.             r1        3.          
    RHS       r2        10.         
RANGES
    RANGE     r1        5.          
BOUNDS
 BV BOUND     x         1.          
 UI BOUND     n         8.          
 LO BOUND     k         2.          
 UI BOUND     k                1e+30
 FR BOUND     y                1e+30
 MI BOUND     z               -1e+30
 UP BOUND     z         4.          
ENDATA
