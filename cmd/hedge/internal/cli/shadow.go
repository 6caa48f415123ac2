package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/kubernetes"
	"github.com/hedgesched/hedge/adapters/shadow"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
)

// shadowFlags are the flags of hedge shadow.
type shadowFlags struct {
	planner
	kubeconfig, history string
	watch               kubernetes.Options
	cycle, length       time.Duration
}

// shadowDocument is the JSON document of hedge shadow.
type shadowDocument struct {
	Schema  int    `json:"schema"`
	Command string `json:"command"`
	Policy  string `json:"policy"`
	*shadow.Report
}

func newShadow(s *Host) *cobra.Command {
	var f shadowFlags
	cmd := &cobra.Command{
		Use:   "shadow",
		Short: "Watch a cluster that another scheduler runs, and compare it with a policy",
		Long: `shadow watches the pods of another scheduler on a Kubernetes cluster, and decides in every cycle what a policy
would do, without acting on anything. When --for has passed or it is interrupted, it compares mean waits and missed
deadlines with those under the policy, which it finds by simulating the jobs that it saw. It needs only the rights
to list and to watch.`,
		Example: `  hedge shadow --kubeconfig ~/.kube/config --for 1h
  hedge shadow --kubeconfig ~/.kube/config --scheduler volcano --namespace team --policy edf --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			report, err := f.run(cmd.Context(), s)
			if err != nil {
				return err
			}
			if f.json {
				return writeJSON(s.Out, shadowDocument{schema, "shadow", f.policy, report})
			}
			_, err = fmt.Fprintln(s.Out, report)
			return failed(err)
		},
	}
	f.planner.add(cmd)
	fs := cmd.Flags()
	fs.StringVar(&f.kubeconfig, "kubeconfig", "", "kubeconfig `file` of the cluster")
	fs.StringVar(&f.watch.SchedulerName, "scheduler", "default-scheduler", "schedulerName of the pods to watch")
	fs.StringVar(&f.watch.Namespace, "namespace", "", "namespace of the pods to watch (default: all)")
	fs.StringVar(&f.watch.NodeSelector, "node-selector", "", "label selector of the nodes (default: all)")
	fs.StringVar(&f.history, "history", "",
		"`file` with the runtimes that a scheduler of hedge has learnt (default: none)")
	fs.DurationVar(&f.cycle, "cycle", 2*time.Second, "time from one decision to the next")
	fs.DurationVar(&f.length, "for", 0, "how long to watch (default: until interrupted)")
	return cmd
}

func (f *shadowFlags) check() error {
	switch {
	case f.kubeconfig == "":
		return errors.New("--kubeconfig: found nothing, expected a file")
	case f.cycle < minPeriod:
		return fmt.Errorf("--cycle: found %v, expected at least %v", f.cycle, minPeriod)
	case f.length < 0:
		return fmt.Errorf("--for: found %v, expected at least 0s", f.length)
	}
	return f.planner.check()
}

// run watches until ctx is done or the time is over, and compares.
func (f *shadowFlags) run(ctx context.Context, s *Host) (*shadow.Report, error) {
	fresh, done, err := f.policies(s, f.policy)
	if err != nil {
		return nil, fmt.Errorf("--policy: %w", err)
	}
	defer done()
	config, err := clientcmd.BuildConfigFromFlags("", f.kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("--kubeconfig: %w", pathError(err))
	}
	client, err := kubernetes.Client(config)
	if err != nil {
		return nil, fmt.Errorf("--kubeconfig: %w", err)
	}
	predictor, err := predict.NewHistory(nil)
	if err != nil {
		return nil, failed(err)
	}
	if f.history != "" {
		if _, err := adapters.HistoryFile(f.history).Load(predictor); err != nil {
			return nil, fmt.Errorf("--history: %w", err)
		}
	}
	driver, err := kubernetes.Open(ctx, client, f.watch)
	if err != nil {
		return nil, failed(err)
	}
	defer driver.Close()
	return f.follow(ctx, s, driver, predictor, fresh)
}

// follow watches with an open driver.
func (f *shadowFlags) follow(ctx context.Context, s *Host, driver adapters.Driver, predictor predict.Predictor,
	fresh func() (sched.Policy, error)) (*shadow.Report, error) {
	real, err := adapters.New(shadow.ReadOnly(driver), adapters.Options{})
	if err != nil {
		return nil, failed(err)
	}
	watched := shadow.New(real)
	policy, err := fresh()
	if err != nil {
		return nil, failed(err)
	}
	loop, err := sched.NewLoop(watched, policy, predictor, sched.WithCycle(f.cycle), sched.WithObserver(watched.Observe),
		sched.WithErrorHandler(func(err error) error {
			if errors.Is(err, adapters.ErrUnavailable) {
				note(s, "%s", oneLine(err))
				return nil
			}
			return err
		}))
	if err != nil {
		return nil, failed(err)
	}
	note(s, "watching the pods of %s; an interrupt ends it", f.watch.SchedulerName)
	until, stop := ctx, context.CancelFunc(func() {})
	if f.length > 0 {
		until, stop = context.WithTimeout(ctx, f.length)
	}
	defer stop()
	if err := loop.Run(until); err != nil && until.Err() == nil {
		return nil, failed(err)
	}
	report, err := watched.Report(context.WithoutCancel(ctx), fresh)
	return report, failed(err)
}
