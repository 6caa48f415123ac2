// Command install fetches the shared library of HiGHS for package highs and prints where it is.
//
//	go run github.com/hedgesched/hedge/solver/milp/highs/install [-dir folder]
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"github.com/hedgesched/hedge/solver/milp/highs"
)

func main() {
	dir := flag.String("dir", "",
		"folder to put the library in; without it one in the user's cache folder, where it is found by itself")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	file, err := highs.Install(ctx, *dir)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(file)
}
