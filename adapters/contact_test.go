package adapters_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
)

// TestContact: leader and standby are in contact with a cluster that answers. They lose contact with one that was
// silent, or refused, for longer than the limit.
func TestContact(t *testing.T) {
	for name, silence := range map[string]func(context.Context) error{
		"refused":   func(context.Context) error { return adapters.ErrUnavailable },
		"no answer": func(ctx context.Context) error { <-ctx.Done(); return adapters.ErrUnavailable },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCrew()
				away := func(since time.Duration) bool {
					return since < 20*time.Second || since > time.Minute && since < 2*time.Minute
				}
				windows := []*window{{office: &c.office, name: "a"}, {office: &c.office, name: "b"}}
				contacts := make([]adapters.Contact, len(windows))
				ctx, end := context.WithCancel(t.Context())
				done := make(chan error, len(windows))
				for i, w := range windows {
					w.broke = func(ctx context.Context, _ string) error {
						if away(time.Since(c.began)) {
							return silence(ctx)
						}
						return nil
					}
					go func() { done <- adapters.Lead(ctx, w, c.work(w.name), adapters.LeadOptions{Contact: &contacts[i]}) }()
				}
				is := func(at time.Duration) []bool {
					time.Sleep(at - time.Since(c.began))
					synctest.Wait()
					var out []bool
					for i := range contacts {
						err := contacts[i].Err(time.Now(), granted)
						if out = append(out, err == nil); err != nil {
							require.ErrorIs(t, err, adapters.ErrUnavailable)
						}
					}
					return out
				}
				require.ErrorContains(t, contacts[0].Err(time.Now(), granted), "not answered yet")
				assert.Equal(t, []bool{false, false}, is(10*time.Second), "there was none yet")
				for at := 32 * time.Second; at <= time.Minute; at += 100 * time.Millisecond {
					require.Equal(t, []bool{true, true}, is(at), "at %v", at)
				}
				assert.Equal(t, []bool{true, true}, is(62*time.Second), "it may be for a moment")
				assert.Equal(t, []bool{false, false}, is(90*time.Second),
					"the one leads no more, and the other cannot tell whether it might")
				assert.Equal(t, []bool{true, true}, is(140*time.Second))
				end()
				require.NoError(t, <-done)
				require.NoError(t, <-done)
			})
		})
	}
}

// TestContactOfWorkThatFails: an instance that gets the lease but cannot work is not healthy, also while it holds the
// lease, until it has renewed the lease or another instance holds it.
func TestContactOfWorkThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrew()
		var contact adapters.Contact
		forbidden := errors.New("pods are forbidden")
		var works atomic.Bool
		ctx, end := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			done <- adapters.Lead(ctx, &window{office: &c.office, name: "a"}, func(ctx context.Context, _ adapters.Term) error {
				if works.Load() {
					<-ctx.Done()
					return nil
				}
				return errors.Join(adapters.ErrUnavailable, forbidden)
			}, adapters.LeadOptions{Contact: &contact})
		}()
		err := func() error {
			synctest.Wait()
			return contact.Err(time.Now(), granted)
		}
		for range 40 {
			require.ErrorIs(t, err(), forbidden)
			time.Sleep(500 * time.Millisecond)
		}
		works.Store(true)
		time.Sleep(10 * time.Second)
		require.NoError(t, err(), "it holds on to it")
		end()
		require.NoError(t, <-done)
	})
}

// TestContactOfWorkThatFailsForTheLease: an error of the work as the lease expires is not the work's fault. The lease
// has not answered. Once it answers, all is well.
func TestContactOfWorkThatFailsForTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrew()
		var contact adapters.Contact
		w := &window{office: &c.office, name: "a", broke: func(context.Context, string) error {
			if at := time.Since(c.began); at > 20*time.Second && at < time.Minute {
				return adapters.ErrUnavailable
			}
			return nil
		}}
		cut := errors.New("the call was cut off")
		ctx, end := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			done <- adapters.Lead(ctx, w, func(ctx context.Context, _ adapters.Term) error {
				<-ctx.Done()
				return errors.Join(adapters.ErrUnavailable, cut)
			}, adapters.LeadOptions{Contact: &contact})
		}()
		for at := time.Second; at < 80*time.Second; at += time.Second {
			time.Sleep(time.Second)
			synctest.Wait()
			err := contact.Err(time.Now(), granted)
			require.NotErrorIs(t, err, cut, "at %v", at)
			if at <= 20*time.Second+granted || at > 62*time.Second { // the last renewal was at 20 s
				require.NoError(t, err, "at %v", at)
			} else if at > 21*time.Second+granted && at < time.Minute {
				require.ErrorContains(t, err, "the lease has not answered for", "at %v", at)
			}
		}
		end()
		require.NoError(t, <-done)
	})
}

// TestContactNamesWhatFails: a failed call of the lease is not reported as a failure of the work, and does not hide
// one.
func TestContactNamesWhatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrew()
		var contact adapters.Contact
		forbidden, lost := errors.New("pods are forbidden"),
			errors.Join(adapters.ErrUnavailable, errors.New("one lost packet"))
		calls := 0
		w := &window{office: &c.office, name: "a", broke: func(_ context.Context, call string) error {
			if call != "acquire" {
				return nil
			}
			if calls++; calls%2 == 0 {
				return lost
			}
			return nil
		}}
		ctx, end := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			done <- adapters.Lead(ctx, w, func(context.Context, adapters.Term) error {
				return errors.Join(adapters.ErrUnavailable, forbidden)
			}, adapters.LeadOptions{Contact: &contact})
		}()
		for range 40 {
			synctest.Wait()
			err := contact.Err(time.Now(), granted)
			require.ErrorIs(t, err, forbidden)
			require.NotErrorIs(t, err, lost)
			time.Sleep(500 * time.Millisecond)
		}
		end()
		require.NoError(t, <-done)
	})
}

func ExampleContact() {
	var contact adapters.Contact // LeadOptions{Contact: &contact}, and then in a readiness probe:
	fmt.Println(contact.Err(time.Now(), 15*time.Second))
	// Output: adapters: cluster unavailable: the lease has not answered yet
}
