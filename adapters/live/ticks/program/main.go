// Command program is a task of package ticks and nothing else. So it starts fast, even if many start at the same time:
//
//	go build -o ticks ./ticks/program
package main

import (
	"fmt"
	"os"

	"github.com/hedgesched/hedge/adapters/live/ticks"
)

func main() {
	asked, err := ticks.Main()
	if err == nil && !asked {
		err = fmt.Errorf("ticks: the environment does not say what to do")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
