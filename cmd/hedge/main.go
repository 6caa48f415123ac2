// Command hedge simulates, compares and explains cluster scheduling policies.
// Run it with --help; every command has examples.
package main

import (
	"os"

	"github.com/hedgesched/hedge/cmd/hedge/program"
)

func main() { os.Exit(program.Program{}.Main()) }
