// Command eater is a task of tests: it takes some memory, keeps it for some time, and ends.
//
//	eater MIB MILLISECONDS
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"
)

func main() {
	mib, err := strconv.Atoi(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	ms, err := strconv.Atoi(os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	held := make([]byte, mib<<20)
	for i := 0; i < len(held); i += 4096 {
		held[i] = 1 // a page counts once it is written
	}
	time.Sleep(time.Duration(ms) * time.Millisecond)
	runtime.KeepAlive(held)
}
