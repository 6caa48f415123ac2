// Command servers builds the programs of the test servers ahead of time, so that no test waits for it: etcd,
// kube-apiserver, kube-controller-manager, kube-scheduler, kwok, nomad and yarn. A folder with a Maven project stands
// for that project's jar.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/hedgesched/hedge/adapters/testservers"
)

func main() {
	flag.Usage = func() { fmt.Fprintln(os.Stderr, "usage: servers NAME|FOLDER...") }
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	for _, name := range flag.Args() {
		get := testservers.Program
		if _, err := os.Stat(filepath.Join(name, "pom.xml")); err == nil {
			get = testservers.Jar
		}
		path, err := get(ctx, name)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1) //nolint:gocritic // the deferred stop only restores a signal handler
		}
		fmt.Println(path)
	}
}
