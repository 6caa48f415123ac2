package cli

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/hedgesched/hedge/adapters/live"
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
	f.secure.add(fs)
}

// open makes the system and the list of dispatches. The errors are bad usage.
func (f *fleetFlags) open(known *systems.Set) (*live.System, live.Fleet, *tls.Config, error) {
	if len(f.addresses) == 0 {
		return nil, nil, nil, fmt.Errorf("--fleet: found none, expected HOST:PORT,…")
	}
	for _, a := range f.addresses {
		if !isAddress(a) || strings.HasPrefix(a, "unix:") {
			return nil, nil, nil, fmt.Errorf("--fleet: found %q, expected HOST:PORT", a)
		}
	}
	chosen, err := chooseOne(known, f.system, workloadTasks)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("--system: %w", err)
	}
	s, err := f.make(&chosen)
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
func (f *fleetFlags) make(s *systems.System) (*live.System, error) {
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
	scheme, ok := s.Agents.(slearn.Scheme)
	if !ok {
		return nil, fmt.Errorf("found a system that cannot be run live")
	}
	c := slearn.Config{Workers: f.workers, Slots: f.slots, Seed: f.seed}
	name := fmt.Sprintf("%s %+v", s.Name, c)
	if err := scheme.Configure(&c, &slearn.Knowledge{ThinLimit: thinLimit}); err != nil {
		return nil, err // there is no history and no truth here
	}
	made, err := slearn.New(c)
	if err != nil {
		return nil, err
	}
	return live.NewSystem(name, made, slearn.Codec{}), nil
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
