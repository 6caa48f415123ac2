package fxhedge

import (
	"context"
	"net"
	"net/http"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.uber.org/fx"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/adapters/service"
	"github.com/hedgesched/hedge/sched"
)

// Service runs a [service.Instance] with the [adapters.Lease] and the [Open] that the program provides. With an address
// to listen at it answers
// /healthz, /readyz and /metrics. A program may add to the value group "hedge.observers", as with [Loop].
func Service(c Config) fx.Option {
	return fx.Module("hedge", parts(c), fx.Provide(newInstance), fx.Invoke(lead))
}

// Open opens the driver of a term. A driver with a method Close is closed at the term's end.
type Open func(ctx context.Context, t adapters.Term) (adapters.Driver, error)

type instanceParams struct {
	fx.In
	Config    Config
	Policy    NewPolicy
	Metrics   service.Metrics
	Clock     sched.Clock          `optional:"true"`
	Observers []func(*sched.Cycle) `group:"hedge.observers"`
	Log       log
}

func newInstance(p instanceParams) (*service.Instance, error) {
	c := p.Config.withDefaults()
	return service.New(
		service.Options{Policy: p.Policy, LeaseFor: c.LeaseFor, Cycle: c.Cycle, Stuck: c.Stuck, Cluster: c.Cluster,
			Estimates: c.Estimates, History: c.History, Save: c.Save, Log: p.Log.Logger, Metrics: p.Metrics, Clock: p.Clock,
			Observe: func(c *sched.Cycle) {
				for _, told := range p.Observers {
					told(c)
				}
			}})
}

type leadParams struct {
	fx.In
	Config   Config
	Instance *service.Instance
	Lease    adapters.Lease
	Open     Open
	Listener net.Listener `optional:"true"`
	Registry registry
}

// lead has the instance lead or stand by while the app runs.
func lead(p leadParams, lc fx.Lifecycle, app fx.Shutdowner) {
	if p.Listener == nil && p.Config.Listen != "" {
		lc.Append(fx.StartHook(func(ctx context.Context) (err error) {
			p.Listener, err = new(net.ListenConfig).Listen(ctx, "tcp", p.Config.Listen)
			return err
		}))
	}
	background(lc, app, func(ctx context.Context) error {
		if p.Listener == nil {
			return p.lead(ctx)
		}
		var metrics http.Handler
		if p.Registry.Gatherer != nil {
			metrics = promhttp.HandlerFor(p.Registry.Gatherer, promhttp.HandlerOpts{})
		}
		return p.Instance.Serve(ctx, p.Listener, p.Instance.Handler(metrics), p.lead)
	})
}

func (p *leadParams) lead(ctx context.Context) error {
	return p.Instance.Lead(ctx, p.Lease, func(ctx context.Context, t adapters.Term) error {
		driver, err := p.Open(ctx, t)
		if err != nil {
			return err
		}
		if c, ok := driver.(interface{ Close() }); ok {
			defer c.Close()
		}
		return p.Instance.Schedule(ctx, t, driver)
	})
}
