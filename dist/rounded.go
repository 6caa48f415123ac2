package dist

// A product that is added to something is converted to float64 first, here and everywhere in the
// module: the compiler may else fuse the two into one instruction, on the architectures that have
// one, and the result would differ from machine to machine by its last digit.

// lerp goes the given share of the way from a to b.
func lerp(a, b, share float64) float64 { return a + float64((b-a)*share) }

// middle is halfway from a to b.
func middle(a, b float64) float64 { return a + float64((b-a)/2) }

// line is mul·x + add.
func line(mul, x, add float64) float64 { return float64(mul*x) + add }
