package yarn

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/sched"
)

// BenchmarkLook is an observation with 10,000 waiting jobs, of which none or one has changed.
func BenchmarkLook(b *testing.B) {
	for _, changed := range []int{0, 1} {
		b.Run(fmt.Sprint("changed ", changed), func(b *testing.B) {
			s := newStand(b)
			for i := range 10_000 {
				require.NoError(b,
					os.WriteFile(filepath.Join(s.spool, jobsDir, fmt.Sprintf("j%d.yaml", i)), []byte(gangText), 0o600))
			}
			look := func(want int) {
				v, err := s.Observe(context.Background(), false)
				require.NoError(b, err)
				require.Len(b, v.Jobs, want)
			}
			look(10_000)
			s.state.jobsOld, s.state.statesOld = true, true // as when nothing has changed for a while
			n := 0
			for b.Loop() {
				if changed > 0 {
					n++
					b.StopTimer()
					s.write("j7.yaml", gangText+fmt.Sprintf("priority: %d\n", n))
					b.StartTimer()
				}
				look(changed)
			}
		})
	}
}

// BenchmarkStart compares starts of gangs of one task by the driver with plain submissions of the same applications,
// which is the least that any scheduler must do. The two take turns on one ResourceManager, so that both meet the same
// load. Their ApplicationMasters are for a node label that no node has, so only the ResourceManager works. An operation
// is one of each, and one more of each that runs concurrently with others, 16 at a time.
func BenchmarkStart(b *testing.B) {
	r := theRig(b, steady, 2)
	o := r.options(filepath.Join(r.dir, "bench"))
	o.Instance, o.AM.Label = "bench", "pool"
	require.NoError(b, r.Label(context.Background(), "n1", ""))
	d, err := New(o)
	require.NoError(b, err)
	s := &starts{b: b, rig: r, driver: d, node: r.NodeID("n0")}
	const turn = 20
	b.ResetTimer()
	for _, parallel := range []int{1, 16} {
		var plain, hedge time.Duration
		for left := b.N; left > 0; left -= turn {
			n := min(left, turn)
			plain += s.plain(n, parallel)
			hedge += s.hedge(n, parallel)
		}
		how := fmt.Sprintf("-%d-at-a-time", parallel)
		b.ReportMetric(float64(b.N)/plain.Seconds(), "submissions/s"+how)
		b.ReportMetric(float64(b.N)/hedge.Seconds(), "starts/s"+how)
		b.ReportMetric(100*plain.Seconds()/hedge.Seconds(), "%-of-plain"+how)
	}
}

// BenchmarkMaster is gangs of one task that does nothing for long, with and without an archive of their
// ApplicationMaster's classes, in turn: how long it takes from the submission until the gang runs, and what processor
// time the ApplicationMaster has taken by then.
func BenchmarkMaster(b *testing.B) {
	r := theRig(b, steady, 1)
	archive := r.am.Archive
	defer func() { r.am.Archive = archive }()
	require.NoError(b, r.Label(context.Background(), "n0", ""))
	var took, busy [2]time.Duration
	for range b.N {
		for i, path := range []string{"", archive} {
			r.am.Archive = path
			t, c := r.master(b)
			took[i] += t
			busy[i] += c
		}
	}
	for i, how := range []string{"plain", "archive"} {
		b.ReportMetric(took[i].Seconds()/float64(b.N), "s-"+how)
		b.ReportMetric(busy[i].Seconds()/float64(b.N), "cpu-s-"+how)
	}
}

// master runs a gang until it reports that all tasks run, and ends it.
func (r *rig) master(b *testing.B) (took, busy time.Duration) {
	ctx, from := context.Background(), time.Now()
	id := r.submitGang(b, &gang{
		Protocol: protocol, Job: "master", Attempt: 1, Nodes: []gangNode{{r.NodeID("n0"), 1}}, MemoryMB: 64, VCores: 1,
		TimeoutMS: 600_000, Script: "exec sleep 100000\n",
	}, "master")
	var st *status
	r.wait(b, "the gang runs", func() bool {
		a, err := r.client.app(ctx, id)
		if err != nil || a == nil || a.Progress < allRun {
			return false
		}
		st, err = r.client.status(ctx, id)
		return err == nil && st.StartedMS > 0
	})
	busy = processorTime(b, id)
	require.NoError(b, r.client.kill(ctx, id, "the benchmark has seen it"))
	r.wait(b, "it is over", func() bool { a, err := r.client.app(ctx, id); return err == nil && a != nil && a.over() })
	return milliseconds(st.StartedMS).Sub(from), busy
}

// processorTime is the processor time of the Java process of an application's ApplicationMaster.
func processorTime(b *testing.B, id string) time.Duration {
	paths, err := filepath.Glob("/proc/[0-9]*")
	require.NoError(b, err)
	for _, path := range paths {
		environ, _ := os.ReadFile(filepath.Join(path, "environ")) // it may have ended, as those below
		line, _ := os.ReadFile(filepath.Join(path, "cmdline"))
		stat, _ := os.ReadFile(filepath.Join(path, "stat"))
		_, counts, found := strings.Cut(string(stat), ") ") // behind the program's name
		if f := strings.Fields(counts); found && strings.Contains(string(environ), id) &&
			strings.HasPrefix(string(line), "java\x00") {
			user, err := strconv.Atoi(f[11])
			require.NoError(b, err)
			system, err := strconv.Atoi(f[12])
			require.NoError(b, err)
			return time.Duration(user+system) * 10 * time.Millisecond // Linux counts in these for programs
		}
	}
	b.Fatal("no process of ", id)
	return 0
}

// BenchmarkContext is the submission context of a gang of one task.
func BenchmarkContext(b *testing.B) {
	d, err := New(Options{URLs: []string{"http://127.0.0.1:1"}, Spool: b.TempDir(), AM: AM{Classpath: "a.jar"}})
	require.NoError(b, err)
	doc := parse("bench", []byte("resources: {memory-mb: 100}\ncommand: sleep 1\n"))
	require.NoError(b, doc.problem)
	r := &record{UID: "bench", Attempt: 1, App: "application_1_0001", Plan: []sched.NodeTasks{{Node: "n0", Tasks: 1}}}
	b.ReportAllocs()
	for b.Loop() {
		_, err := d.context(doc, r)
		require.NoError(b, err)
	}
}

// BenchmarkRecord is what a start writes before YARN is called, for 16 jobs: one after another, and concurrently. An
// operation is all 16.
func BenchmarkRecord(b *testing.B) {
	for _, parallel := range []int{1, 16} {
		b.Run(fmt.Sprint(parallel, " at a time"), func(b *testing.B) {
			s, err := openSpool(b.TempDir(), callWithin)
			require.NoError(b, err)
			var records [16]*record
			for b.Loop() {
				timed(b, len(records), parallel, func(i int) error {
					next := &record{Open: true, App: "application_1_0001", Plan: []sched.NodeTasks{{Node: "n0", Tasks: 1}}}
					err := s.change(context.Background(), fmt.Sprint("job-", i), records[i], next, 1, nil)
					records[i] = next
					return err
				})
			}
		})
	}
}

// starts are the two ways of starting jobs.
type starts struct {
	b *testing.B
	*rig
	driver *Driver
	node   string
	made   int
}

// jobs submits jobs with new names, and returns them as they are reported.
func (s *starts) jobs(n int) []adapters.Job {
	for range n {
		s.made++
		require.NoError(s.b,
			Submit(s.driver.opt.Spool, fmt.Sprint("bench-", s.made), []byte("resources: {memory-mb: 100}\ncommand: sleep 1\n")))
	}
	v, err := s.driver.Observe(context.Background(), true)
	require.NoError(s.b, err)
	require.Len(s.b, v.Jobs, n)
	return v.Jobs
}

// clear removes jobs and applications, and waits until nothing is left of them.
func (s *starts) clear(jobs []adapters.Job) {
	for i := range jobs {
		require.NoError(s.b, Withdraw(s.driver.opt.Spool, jobs[i].Spec.ID))
	}
	s.wait(s.b, "no application is left", func() bool {
		live, err := s.client.live(context.Background(), "bench")
		for _, id := range sortedKeys(live) {
			_ = s.client.kill(context.Background(), id, "the turn is over") // it is tried again
		}
		return err == nil && len(live) == 0
	})
	s.wait(s.b, "the driver knows", func() bool {
		v, err := s.driver.Observe(context.Background(), true)
		require.NoError(s.b, err)
		for i := range v.Jobs {
			if len(v.Jobs[i].Tasks) > 0 {
				require.NoError(s.b,
					s.driver.Stop(context.Background(), &adapters.Stop{Job: &v.Jobs[i], Cause: adapters.CauseOver}))
			}
		}
		return len(v.Jobs) == 0
	})
}

func (s *starts) plan() []sched.NodeTasks { return []sched.NodeTasks{{Node: s.node, Tasks: 1}} }

// plain submits n applications by the bare client.
func (s *starts) plain(n, parallel int) time.Duration {
	jobs := s.jobs(n)
	defer s.clear(jobs)
	type submission struct {
		id   string
		body any
	}
	var all []submission
	for i := range jobs {
		r, err := reference(&jobs[i])
		require.NoError(s.b, err)
		next, err := s.driver.begun(r, &adapters.Start{Job: &jobs[i], Nodes: s.plan()})
		require.NoError(s.b, err)
		body, err := s.driver.context(r.doc, next)
		require.NoError(s.b, err)
		all = append(all, submission{next.App, body})
	}
	return timed(s.b, n, parallel, func(i int) error {
		return s.client.submit(context.Background(), all[i].id, all[i].body)
	})
}

// hedge lets the driver start n jobs.
func (s *starts) hedge(n, parallel int) time.Duration {
	jobs := s.jobs(n)
	defer s.clear(jobs)
	return timed(s.b, n, parallel, func(i int) error {
		return s.driver.Start(context.Background(), &adapters.Start{Job: &jobs[i], Nodes: s.plan()})
	})
}

// timed makes n calls, with that number of concurrent calls.
func timed(b *testing.B, n, parallel int, do func(i int) error) time.Duration {
	begin := time.Now()
	errs := make([]error, n)
	slots := make(chan struct{}, parallel)
	var all sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		all.Go(func() {
			errs[i] = do(i)
			<-slots
		})
	}
	all.Wait()
	took := time.Since(begin)
	require.NoError(b, errors.Join(errs...))
	return took
}
