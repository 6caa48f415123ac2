// Command cluster runs one cluster of test servers until it is interrupted, and says how to reach it: kubernetes, nomad
// or yarn.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/hedgesched/hedge/adapters/testservers"
)

func main() {
	nodes := flag.Int("nodes", 4, "nodes of nomad and yarn; those of kubernetes are made with kubectl")
	flag.Usage = func() { fmt.Fprintln(os.Stderr, "usage: cluster kubernetes|nomad|yarn [-nodes N]") }
	flag.Parse()
	kind := flag.Arg(0)
	if flag.NArg() > 1 {
		_ = flag.CommandLine.Parse(flag.Args()[1:]) // which exits where it fails
	}
	if kind == "" || flag.NArg() > 0 && flag.Arg(0) != kind {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, kind, *nodes)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run starts a cluster in a folder of its own, which is gone at the end.
func run(ctx context.Context, kind string, nodes int) (err error) {
	dir, err := os.MkdirTemp("", "hedge-cluster")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	stop, err := start(ctx, kind, dir, nodes)
	if err != nil {
		return err
	}
	<-ctx.Done()
	stop()
	return nil
}

func start(ctx context.Context, kind, dir string, nodes int) (stop func(), err error) {
	switch kind {
	case "kubernetes":
		k, err := testservers.StartKubernetes(ctx, testservers.KubernetesConfig{
			Dir: dir,
			Controllers: "job-controller,garbage-collector-controller,disruption-controller," +
				"namespace-controller,resourcequota-controller"})
		if err != nil {
			return nil, err
		}
		fmt.Println("export KUBECONFIG=" + k.Kubeconfig())
		return k.Stop, nil
	case "nomad":
		c := testservers.NomadConfig{Dir: dir}
		for i := range nodes {
			c.Clients = append(c.Clients, testservers.NomadClient{Name: fmt.Sprint("n", i), CPU: 4000, MemoryMB: 4096})
		}
		n, err := testservers.StartNomad(ctx, c)
		if err != nil {
			return nil, err
		}
		fmt.Println("export NOMAD_ADDR=" + n.URL())
		return n.Stop, nil
	case "yarn":
		c := testservers.YARNConfig{Dir: dir}
		for i := range nodes {
			c.Nodes = append(c.Nodes, testservers.YARNNode{Name: fmt.Sprint("n", i)})
		}
		y, err := testservers.StartYARN(ctx, c)
		if err != nil {
			return nil, err
		}
		fmt.Println("ResourceManager: " + y.URL())
		fmt.Println("class path of ApplicationMasters, behind hedge-am.jar: " + y.Classpath())
		return y.Stop, nil
	}
	return nil, fmt.Errorf("cluster %q, expected kubernetes, nomad or yarn", kind)
}
