// Command program is a task of package ticks and nothing else, so that it starts at once where many do:
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
