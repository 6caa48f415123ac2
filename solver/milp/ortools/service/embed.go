// Package service holds the solver service's files, a small Python program on OR-Tools' wheel, for package serve to
// write out and run. It does nothing by itself.
package service

import "embed"

// Files are the program, server.py, and its requirements.txt.
//
//go:embed requirements.txt *.py hedge
var Files embed.FS
