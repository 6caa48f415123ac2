package adapters_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
)

// office grants a lease in the bubble's time.
type office struct {
	mu     sync.Mutex
	holder string
	epoch  uint64
	until  time.Time
}

// window is one instance's access to the office. It can be broken.
type window struct {
	*office
	name  string
	broke func(ctx context.Context, call string) error
}

const granted = 15 * time.Second

func (w *window) enter(ctx context.Context, call string) error {
	if w.broke == nil {
		return nil
	}
	return w.broke(ctx, call)
}

func (w *window) Acquire(ctx context.Context) (adapters.Term, error) {
	if err := w.enter(ctx, "acquire"); err != nil {
		return adapters.Term{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.holder != "" && w.holder != w.name && time.Now().Before(w.until) {
		return adapters.Term{}, &adapters.HeldError{Holder: w.holder}
	}
	w.epoch++
	w.holder, w.until = w.name, time.Now().Add(granted)
	return adapters.Term{Epoch: w.epoch, For: granted}, nil
}

func (w *window) Renew(ctx context.Context, t adapters.Term) (adapters.Term, error) {
	if err := w.enter(ctx, "renew"); err != nil {
		return t, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.holder != w.name || w.epoch != t.Epoch {
		return t, adapters.ErrFenced
	}
	w.until = time.Now().Add(granted)
	return t, nil
}

func (w *window) Release(ctx context.Context, t adapters.Term) error {
	if err := w.enter(ctx, "release"); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.holder == w.name && w.epoch == t.Epoch {
		w.holder = ""
	}
	return nil
}

// shift is a time in which an instance worked.
type shift struct {
	who      string
	epoch    uint64
	from, to time.Duration
}

// crew are instances that lead in turn.
type crew struct {
	office
	began  time.Time
	mu     sync.Mutex
	shifts []shift
}

func newCrew() *crew { return &crew{began: time.Now()} }

// work works until it is told to stop.
func (c *crew) work(who string) func(context.Context, adapters.Term) error {
	return func(ctx context.Context, t adapters.Term) error {
		from := time.Since(c.began)
		<-ctx.Done()
		c.mu.Lock()
		defer c.mu.Unlock()
		c.shifts = append(c.shifts, shift{who, t.Epoch, from, time.Since(c.began)})
		return nil
	}
}

// lead makes an instance lead until the context is done. It returns a function that waits for its end.
func (c *crew) lead(ctx context.Context, t *testing.T, w *window) (wait func()) {
	done := make(chan error, 1)
	go func() { done <- adapters.Lead(ctx, w, c.work(w.name), adapters.LeadOptions{}) }()
	return func() { require.NoError(t, <-done) }
}

func TestLeadHandsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrew()
		first, stop := context.WithCancel(t.Context())
		wait := c.lead(first, t, &window{office: &c.office, name: "a"})
		time.Sleep(time.Second)
		second, end := context.WithCancel(t.Context())
		standby := c.lead(second, t, &window{office: &c.office, name: "b"})
		time.Sleep(time.Minute)
		stop()
		wait()
		time.Sleep(10 * time.Second)
		end()
		standby()
		require.Len(t, c.shifts, 2)
		a, b := c.shifts[0], c.shifts[1]
		assert.Equal(t, shift{"a", 1, 0, 61 * time.Second}, a, "it renewed its lease for a minute")
		assert.Equal(t, []any{"b", uint64(2)}, []any{b.who, b.epoch})
		assert.LessOrEqual(t, b.from-a.to, time.Second, "the lease was given back, so the standby need not wait for its end")
		assert.Empty(t, c.holder)
	})
}

// An instance that cannot renew its lease stops before the lease expires, whether the servers refuse, fail or are
// silent. It leads again later.
func TestLeadStopsInTime(t *testing.T) {
	for name, trouble := range map[string]func(context.Context) error{
		"refused":     func(context.Context) error { return adapters.ErrUnavailable },
		"strange":     func(context.Context) error { return errors.New("broken pipe") },
		"no answer":   func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
		"late answer": func(context.Context) error { time.Sleep(9 * time.Second); return adapters.ErrUnavailable },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCrew()
				cut := &window{office: &c.office, name: "a"}
				cut.broke = func(ctx context.Context, call string) error {
					since := time.Since(c.began)
					if since < 20*time.Second || since > 100*time.Second {
						return nil
					}
					if call != "renew" {
						return adapters.ErrUnavailable
					}
					return trouble(ctx)
				}
				ctx, end := context.WithCancel(t.Context())
				a := c.lead(ctx, t, cut)
				time.Sleep(time.Second)
				b := c.lead(ctx, t, &window{office: &c.office, name: "b"})
				time.Sleep(2 * time.Minute)
				end()
				a()
				b()
				require.Len(t, c.shifts, 2)
				assert.Equal(t, "a", c.shifts[0].who)
				assert.Greater(t, c.shifts[1].from, c.shifts[0].to, "never two at once")
				assert.LessOrEqual(t, c.shifts[0].to, 15*time.Second+granted*3/4,
					"renewed last at 15 s, and a quarter before its end")
				assert.Equal(t, uint64(2), c.shifts[1].epoch)
			})
		})
	}
}

// A call that hangs is given up. One hanging renewal does not lose the lease, and one hanging try does not keep a
// standby from the next.
func TestLeadGivesUpCallsThatHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrew()
		hangs := func(who string, call string, at time.Duration, hung *int) *window {
			return &window{office: &c.office, name: who, broke: func(ctx context.Context, now string) error {
				if since := time.Since(c.began); now != call || since < at || *hung > 0 {
					return nil
				}
				*hung++
				<-ctx.Done()
				return ctx.Err()
			}}
		}
		first, stop := context.WithCancel(t.Context())
		var hungA, hungB int
		a := c.lead(first, t, hangs("a", "renew", 20*time.Second, &hungA))
		time.Sleep(time.Second)
		second, end := context.WithCancel(t.Context())
		b := c.lead(second, t, hangs("b", "acquire", 45*time.Second, &hungB))
		time.Sleep(49 * time.Second)
		stop()
		a()
		time.Sleep(50 * time.Second)
		end()
		b()
		assert.Equal(t, []int{1, 1}, []int{hungA, hungB})
		require.Len(t, c.shifts, 2)
		assert.Equal(t, shift{"a", 1, 0, 50 * time.Second}, c.shifts[0])
		assert.Equal(t, []any{"b", uint64(2)}, []any{c.shifts[1].who, c.shifts[1].epoch})
		assert.LessOrEqual(t, c.shifts[1].from, time.Minute, "it gave up after 10 s")
	})
}

func TestLeadRefusesOptions(t *testing.T) {
	for _, o := range []adapters.LeadOptions{
		{Margin: granted}, {Margin: granted * 2}, {Renew: granted * 3 / 4},
		{Renew: 10 * time.Second, Margin: 5 * time.Second},
		{Retry: -1}, {Timeout: -1}, {Renew: -1}, {Margin: -1},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := &window{office: &office{}, name: "a"}
			require.ErrorIs(t, adapters.Lead(t.Context(), w, nil, o), adapters.ErrOptions, "%+v", o)
			assert.Empty(t, w.holder, "given back")
		})
	}
}

func TestLeadLosesItsLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrew()
		ctx, end := context.WithCancel(t.Context())
		wait := c.lead(ctx, t, &window{office: &c.office, name: "a"})
		time.Sleep(time.Second)
		c.office.mu.Lock()
		c.holder, c.epoch, c.until = "thief", 7, time.Now().Add(20*time.Second)
		c.office.mu.Unlock()
		time.Sleep(time.Minute)
		end()
		wait()
		require.Len(t, c.shifts, 2)
		assert.Equal(t, 5*time.Second, c.shifts[0].to, "when it was to renew")
		assert.Equal(t, uint64(8), c.shifts[1].epoch)
	})
}

func TestLeadAndTheWorksErrors(t *testing.T) {
	own := errors.New("bad policy")
	for _, tt := range []struct {
		name  string
		errs  []error // one per shift
		want  error
		terms int
	}{
		{"done", []error{nil}, nil, 1},
		{"its own", []error{own}, own, 1},
		{"unavailable, then fenced, then done", []error{adapters.ErrUnavailable, adapters.ErrFenced, nil}, nil, 3},
		{"restored, then done", []error{adapters.ErrRestored, nil}, nil, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCrew()
				var epochs []uint64
				var told []error
				err := adapters.Lead(t.Context(), &window{office: &c.office, name: "a"},
					func(_ context.Context, term adapters.Term) error {
						epochs = append(epochs, term.Epoch)
						return tt.errs[len(epochs)-1]
					}, adapters.LeadOptions{OnError: func(err error) { told = append(told, err) }})
				require.ErrorIs(t, err, tt.want)
				assert.Len(t, epochs, tt.terms)
				assert.Len(t, told, tt.terms-1)
				assert.Empty(t, c.holder, "given back")
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		w := &window{office: &office{}, name: "a", broke: func(context.Context, string) error { return own }}
		require.ErrorIs(t, adapters.Lead(t.Context(), w, nil, adapters.LeadOptions{}), own, "of the lease")
	})
}

// An error with which the work ends after it was told to end is reported. The end itself is not.
func TestLeadTellsOfTheWorksEnd(t *testing.T) {
	full := errors.New("no space left on device")
	for _, tt := range []struct {
		err, want error
	}{{nil, nil}, {full, full}, {context.Canceled, nil},
		{fmt.Errorf("%w: %w", adapters.ErrUnavailable, context.Canceled), nil}} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			w := &window{office: &office{}, name: "a"}
			var told []error
			err := adapters.Lead(ctx, w, func(ctx context.Context, _ adapters.Term) error {
				cancel()
				<-ctx.Done()
				return tt.err
			}, adapters.LeadOptions{OnError: func(err error) { told = append(told, err) }})
			require.NoError(t, err)
			assert.Empty(t, w.holder, "given back")
			if tt.want == nil {
				assert.Empty(t, told)
				return
			}
			require.Len(t, told, 1)
			require.ErrorIs(t, told[0], tt.want)
		})
	}
	synctest.Test(t, func(t *testing.T) { // without OnError
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		require.NoError(t,
			adapters.Lead(ctx, &window{office: &office{}, name: "a"}, func(context.Context, adapters.Term) error {
				cancel()
				return full
			}, adapters.LeadOptions{}))
	})
}

// With a lease that is never renewed, the work runs until the margin begins.
func TestLeadIsNeverRenewed(t *testing.T) {
	for _, tt := range []struct{ margin, want time.Duration }{{0, granted * 3 / 4}, {time.Second, granted - time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			w := &window{office: &office{}, name: "a", broke: func(_ context.Context, call string) error {
				if call == "renew" {
					return adapters.ErrUnavailable
				}
				return nil
			}}
			began := time.Now()
			var worked time.Duration
			require.NoError(t, adapters.Lead(ctx, w, func(term context.Context, _ adapters.Term) error {
				<-term.Done()
				worked = time.Since(began)
				cancel()
				return nil
			}, adapters.LeadOptions{Margin: tt.margin}))
			assert.Equal(t, tt.want, worked)
		})
	}
}

// If a lease cannot be given back, Lead stops trying after the margin.
func TestLeadGivesUpRelease(t *testing.T) {
	for _, tt := range []struct {
		margin, want time.Duration
	}{{time.Second, time.Second}, {0, 15 * time.Second / 4}, {5 * time.Second, 5 * time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			w := &window{office: &office{}, name: "a", broke: func(ctx context.Context, call string) error {
				if call == "release" {
					<-ctx.Done()
					return ctx.Err()
				}
				return nil
			}}
			began := time.Now()
			var told []error
			require.NoError(t, adapters.Lead(t.Context(), w, func(context.Context, adapters.Term) error { return nil },
				adapters.LeadOptions{Margin: tt.margin, OnError: func(err error) { told = append(told, err) }}))
			assert.Equal(t, tt.want, time.Since(began))
			require.Len(t, told, 1)
			require.ErrorIs(t, told[0], context.DeadlineExceeded)
		})
	}
}

// The work may end while the lease is being renewed.
func TestLeadWorkEndsDuringRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &window{office: &office{}, name: "a", broke: func(ctx context.Context, call string) error {
			if call == "renew" {
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		}}
		own := errors.New("done")
		err := adapters.Lead(t.Context(), w, func(context.Context, adapters.Term) error {
			time.Sleep(6 * time.Second)
			return own
		}, adapters.LeadOptions{})
		require.ErrorIs(t, err, own)
	})
}

func TestUnavailable(t *testing.T) {
	assert.NoError(t, adapters.Unavailable(adapters.ErrUnavailable))
	assert.ErrorIs(t, adapters.Unavailable(adapters.ErrFenced), adapters.ErrFenced)
	assert.ErrorIs(t, adapters.Unavailable(errors.Join(adapters.ErrUnavailable, adapters.ErrFenced)), adapters.ErrFenced)
	assert.ErrorIs(t, adapters.Unavailable(fmt.Errorf("%w: %w", adapters.ErrUnavailable, adapters.ErrRestored)),
		adapters.ErrRestored)
}

// TestOnStandbyOnce: a holder is reported once it can be named, and only once, whatever the words. A lease that names
// nobody is reported, too.
func TestOnStandbyOnce(t *testing.T) {
	for _, tt := range []struct {
		name string
		errs []error
		want []int
	}{
		{"taken meanwhile", []error{&adapters.HeldError{}, &adapters.HeldError{Holder: "b"}, &adapters.HeldError{},
			&adapters.HeldError{Holder: "b"}}, []int{1}},
		{"in other words", []error{&adapters.HeldError{Holder: "b"},
			fmt.Errorf("try 2: %w", &adapters.HeldError{Holder: "b"}), &adapters.HeldError{Holder: "c"}}, []int{0, 2}},
		{"nobody is named", []error{adapters.ErrHeld, adapters.ErrHeld}, []int{0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var want, told []error
				for _, i := range tt.want {
					want = append(want, tt.errs[i])
				}
				own, calls := errors.New("enough"), 0
				w := &window{office: &office{}, name: "a", broke: func(context.Context, string) error {
					if calls++; calls > len(tt.errs) {
						return own
					}
					return tt.errs[calls-1]
				}}
				require.ErrorIs(t, adapters.Lead(t.Context(), w, nil, adapters.LeadOptions{OnStandby: func(err error) {
					told = append(told, err)
				}}), own)
				assert.Equal(t, want, told)
				for _, err := range tt.errs {
					require.ErrorIs(t, err, adapters.ErrHeld)
				}
			})
		})
	}
}

// TestOnStandby: each holder is reported once, whatever fails meanwhile, and again after this instance has led.
func TestOnStandby(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrew()
		hold := func(who string, length time.Duration) {
			c.office.mu.Lock()
			defer c.office.mu.Unlock()
			c.holder, c.until = who, time.Now().Add(length)
			c.epoch++
		}
		hold("b", time.Hour)
		calls := 0
		w := &window{office: &c.office, name: "a", broke: func(context.Context, string) error {
			if calls++; calls == 5 {
				return adapters.ErrUnavailable
			}
			return nil
		}}
		var told []string
		tell := func(err error) { told = append(told, err.Error()) }
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			done <- adapters.Lead(ctx, w, c.work("a"), adapters.LeadOptions{OnError: tell, OnStandby: tell})
		}()
		const b = "adapters: another instance holds the lease: b"
		time.Sleep(10*time.Second + time.Millisecond)
		synctest.Wait()
		assert.Equal(t, []string{b, adapters.ErrUnavailable.Error()}, told)
		hold("d", time.Minute)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		assert.Equal(t, "adapters: another instance holds the lease: d", told[2])
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Len(t, told, 3, "it leads")
		hold("b", time.Hour)
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Equal(t, b, told[len(told)-1])
		cancel()
		require.NoError(t, <-done)
	})
}
