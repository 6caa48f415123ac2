//go:build !unix

package bench

import "os"

// peak is not known on this system.
func peak(*os.ProcessState) float64 { return 0 }
