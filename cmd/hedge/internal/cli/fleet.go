package cli

import (
	"crypto/sha256"
	"crypto/tls"
	"fmt"
	"log/slog"
	"math"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/hedgesched/hedge/adapters/live"
	"github.com/hedgesched/hedge/adapters/sim/trace"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched/agent"
	"github.com/hedgesched/hedge/sched/bigc"
	"github.com/hedgesched/hedge/sched/eagle"
	"github.com/hedgesched/hedge/sched/kairos"
	"github.com/hedgesched/hedge/sched/pigeon"
	"github.com/hedgesched/hedge/sched/siding"
	"github.com/hedgesched/hedge/sched/slearn"
	"github.com/hedgesched/hedge/sched/systems"
)

// fleetFlags say which system a fleet of processes runs, and where: the same in all of them.
type fleetFlags struct {
	system    string
	seed      uint64
	workers   int
	slots     int
	addresses []string
	secure    tlsFlags
	eagle     eagle.Config
	pigeon    pigeon.Config
	kairos    kairos.Config
	bigC      bigc.Config
	// train is a log, and features what gs-* keep history by.
	train, features string
}

func (f *fleetFlags) add(fs *pflag.FlagSet) {
	fs.StringSliceVar(&f.addresses, "fleet", nil,
		"addresses of all dispatches, HOST:PORT,…, the same list everywhere; jobs are submitted to the first")
	fs.StringVar(&f.system, "system", "eagle", "the scheduler: one that hedge simulate --workload tasks knows")
	fs.IntVar(&f.workers, "workers", 0, "number of workers of the whole fleet")
	fs.IntVar(&f.slots, "slots", 1, "tasks that a worker can run at the same time")
	fs.Uint64Var(&f.seed, "seed", 1, "seed of the random draws")
	e := &f.eagle
	fs.IntVar(&e.Schedulers, "schedulers", 10, "distributed schedulers: eagle and its kin, pigeon, siding")
	fs.Float64Var(&e.ShortShare, "short-share", defaultShortShare,
		"percent of the workers that take only short tasks: eagle and its kin")
	fs.IntVar(&e.MinProbes, "min-probes", 20, "smallest number of probes of a short job: eagle and its kin")
	fs.DurationVar(&e.Heartbeat, "heartbeat", 7*time.Second, "interval at which workers report their queues: dlwl")
	fs.IntVar(&f.pigeon.Group, "group-size", 100, "workers of a group: pigeon, siding")
	fs.IntVar(&f.pigeon.Reserved, "reserved", 2, "workers of a group that take only short tasks: pigeon, siding-nopause")
	fs.IntVar(&f.pigeon.Weight, "weight", 100_000, "short tasks started before a waiting long one: pigeon, siding")
	k := &f.kairos
	fs.DurationVar(&k.Quantum, "quantum", 50*time.Second, "time slice: kairos")
	fs.IntVar(&k.Queue, "queue", 4, "tasks that a worker holds in addition to the running ones: kairos")
	fs.DurationVar(&k.Interval, "interval", time.Second, "interval at which tasks are assigned and workers report: kairos")
	fs.IntVar(&k.Guard, "guard", 3, "preemptions before a task is guarded; 0: never: kairos")
	fs.IntVar(&k.GuardQuanta, "guard-quanta", 2, "time slices for which a task is guarded: kairos")
	fs.BoolVar(&k.GuardWaits, "guard-waits", false, "make --guard count time slices of waiting: kairos")
	fs.Float64Var(&f.bigC.ShortShare, "short-nodes", 95, "percent of slots for short jobs: big-c")
	fs.StringVar(&f.train, "train", "",
		"log whose jobs are history from the start, the same everywhere: gs-joint, gs-3sigma, gs-3sigmatl, gs-point")
	fs.StringVar(&f.features, "features", gsFeatures, "features by which these keep history")
	f.secure.add(fs)
}

// open makes the system and the list of dispatches. The errors are bad usage.
func (f *fleetFlags) open(host *Host) (*live.System, live.Fleet, *tls.Config, error) {
	if len(f.addresses) == 0 {
		return nil, nil, nil, fmt.Errorf("--fleet: found none, expected HOST:PORT,…")
	}
	for _, a := range f.addresses {
		if !isAddress(a) || strings.HasPrefix(a, "unix:") {
			return nil, nil, nil, fmt.Errorf("--fleet: found %q, expected HOST:PORT", a)
		}
	}
	chosen, err := chooseOne(host.Systems, f.system, workloadTasks)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("--system: %w", err)
	}
	s, err := f.make(host, &chosen)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("--system %s: %w", f.system, err)
	}
	fleet, err := live.Divide(s, f.addresses...)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("--fleet: %w", err)
	}
	secure, err := f.secure.open(f.addresses...)
	return s, fleet, secure, err
}

// make makes the system of what the registry has of it.
func (f *fleetFlags) make(host *Host, s *systems.System) (*live.System, error) {
	switch of := s.Agents.(type) {
	case eagle.Switches:
		c := f.eagle
		c.Switches, c.Workers, c.Slots, c.Seed = of, f.workers, f.slots, f.seed
		return alive(s.Name, c, eagle.New, eagle.Codec{})
	case pigeon.Config:
		c := f.pigeon
		c.Workers, c.Slots, c.Seed, c.Distributors = f.workers, f.slots, f.seed, f.eagle.Schedulers
		return alive(s.Name, c, pigeon.New, pigeon.Codec{})
	case siding.Config:
		of.Workers, of.Slots, of.Seed, of.Distributors = f.workers, f.slots, f.seed, f.eagle.Schedulers
		of.Group, of.Weight = f.pigeon.Group, f.pigeon.Weight
		if of.Reserved > 0 {
			of.Reserved = f.pigeon.Reserved
		}
		return alive(s.Name, of, siding.New, siding.Codec{})
	case bigc.Config:
		c := f.bigC
		c.Workers, c.Slots = f.workers, f.slots
		return alive(s.Name, c, bigc.New, bigc.Codec{})
	case kairos.Choice:
		c := f.kairos
		c.Workers, c.Slots, c.Seed, c.Choice = f.workers, f.slots, f.seed, of
		return alive(s.Name, c, kairos.New, kairos.Codec{})
	case kairos.Config: // a plain queue
		of.Workers, of.Slots, of.Quantum, of.Interval = f.workers, f.slots, f.kairos.Quantum, f.kairos.Interval
		return alive(s.Name, of, kairos.New, kairos.Codec{})
	}
	if scheme, ok := s.Agents.(slearn.Scheme); ok {
		return f.makeGS(host, s.Name, scheme)
	}
	return nil, fmt.Errorf("found a system that cannot be run live")
}

// makeGS makes the generic scheduler. The history is in its name, since a dispatch that is started again with another
// one would read its journal differently.
func (f *fleetFlags) makeGS(host *Host, name string, scheme slearn.Scheme) (*live.System, error) {
	c := slearn.Config{Workers: f.workers, Slots: f.slots, Seed: f.seed}
	name = fmt.Sprintf("%s %+v", name, c)
	k := slearn.Knowledge{ThinLimit: thinLimit, History: func() (predict.Predictor, error) {
		h, sum, err := f.history(host, scheme)
		name = fmt.Sprintf("%s, features %s, history %.8x", name, f.features, sum)
		return h, err
	}}
	if err := scheme.Configure(&c, &k); err != nil {
		return nil, err // there is no truth here
	}
	made, err := slearn.New(c)
	if err != nil {
		return nil, err
	}
	return live.NewSystem(name, made, slearn.Codec{}), nil
}

// history is a history that has learnt from the jobs of --train, and a sum of what it has learnt.
func (f *fleetFlags) history(host *Host, scheme slearn.Scheme) (predict.Predictor, []byte, error) {
	features, err := parseFeatures(f.features)
	if err != nil {
		return nil, nil, err
	}
	h, err := newPast(features, scheme)
	if err != nil || f.train == "" {
		return h, nil, err
	}
	log, err := readLog(host, f.train, &trace.Options{})
	if err != nil {
		return nil, nil, fmt.Errorf("--train: %w", err)
	}
	sum := sha256.New()
	for i := range log.Jobs {
		o := observed(&log.Jobs[i])
		if err := h.Observe(o); err != nil {
			return nil, nil, fmt.Errorf("--train: %w", err)
		}
		fmt.Fprintln(sum, o.Job.Submitted.UnixNano(), o.Job.Attributes, math.Float64bits(o.Runtime))
	}
	return h, sum.Sum(nil), nil
}

// thinLimit is GS's, as in its paper.
const thinLimit = 3

// alive makes a system of its configuration, which is in its name: processes that differ do not talk to each other.
func alive[C, M any, S agent.System[M]](name string, c C, made func(C) (S, error), codec agent.Codec[M]) (
	*live.System, error) {
	s, err := made(c)
	if err != nil {
		return nil, err
	}
	return live.NewSystem(fmt.Sprintf("%s %+v", name, c), s, codec), nil
}

// tlsFlags are where certificates are.
type tlsFlags struct {
	certificate, key, authorities string
	insecure                      bool
}

func (f *tlsFlags) add(fs *pflag.FlagSet) {
	fs.StringVar(&f.certificate, "tls-cert", "", "PEM file of this process's certificate, for both ends of a connection")
	fs.StringVar(&f.key, "tls-key", "", "PEM file of its key")
	fs.StringVar(&f.authorities, "tls-ca", "", "PEM file of the authorities of all certificates of the fleet")
	fs.BoolVar(&f.insecure, "insecure", false, "use no TLS though it is not all on this machine")
}

// open reads the certificates. Without any it refuses addresses that others can reach.
func (f *tlsFlags) open(addresses ...string) (*tls.Config, error) {
	files := []string{f.certificate, f.key, f.authorities}
	given := len(files) - len(slices.DeleteFunc(files, func(s string) bool { return s != "" }))
	if given > 0 && given < 3 {
		return nil, fmt.Errorf("--tls-cert: found %d of it, --tls-key and --tls-ca, expected all", given)
	}
	if given > 0 {
		return live.LoadTLS(f.certificate, f.key, f.authorities)
	}
	for _, a := range addresses {
		host, _, err := net.SplitHostPort(a)
		if ip := net.ParseIP(host); err == nil && !f.insecure && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return nil, fmt.Errorf("--tls-cert: found none with address %s, expected it, or --insecure", a)
		}
	}
	return nil, nil
}

// logger writes to the standard error.
func logger(s *Host) *slog.Logger { return slog.New(slog.NewTextHandler(s.Err, nil)) }
