package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// pulse is the state of a leader for health checks. The zero value is a standby's.
type pulse struct {
	mu     sync.Mutex
	last   time.Time // when the term began or its last cycle ended; zero for a standby
	failed error     // the error of the last cycle
}

func (p *pulse) beat(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = now
}

func (p *pulse) rest() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last, p.failed = time.Time{}, nil
}

func (p *pulse) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failed = err
}

func (p *pulse) read() (last time.Time, failed error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last, p.failed
}

// Live returns an error if this instance leads and no cycle has ended for [Options].Stuck, failed or not, since its
// term began. For a standby it is nil. It is safe for concurrent use.
func (i *Instance) Live() error {
	last, _ := i.pulse.read()
	if age := i.opt.Clock.Now().Sub(last); !last.IsZero() && age > i.opt.Stuck {
		return fmt.Errorf("service: no cycle has ended for %v", age.Round(time.Millisecond))
	}
	return nil
}

// Ready is nil while the lease answers (see [adapters.Contact.Err]) and, for a leader, the last cycle did not fail. It
// is safe for concurrent use.
func (i *Instance) Ready() error {
	_, failed := i.pulse.read()
	return errors.Join(failed, i.contact.Err(i.opt.Clock.Now(), i.opt.LeaseFor))
}

// Handler answers /healthz with [Instance.Live] and /readyz with [Instance.Ready]: "ok", or status 503 and the error.
// It passes requests for /metrics to metrics, unless that is nil.
func (i *Instance) Handler(metrics http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", answer(i.Live))
	mux.HandleFunc("GET /readyz", answer(i.Ready))
	if metrics != nil {
		mux.Handle("GET /metrics", metrics)
	}
	return mux
}

func answer(check func() error) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if err := check(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	}
}

// Serve answers requests at the listener while work runs, and closes the listener. It returns the error of work once
// that has returned. If serving fails, that is an error, too, and the context of work ends: otherwise nobody could
// check its health.
func (i *Instance) Serve(ctx context.Context, listener net.Listener, handler http.Handler,
	work func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second,
		ErrorLog: slog.NewLogLogger(i.opt.Log.Handler(), slog.LevelWarn)}
	served := make(chan error, 1)
	go func() {
		served <- server.Serve(listener)
		cancel()
	}()
	err := work(ctx)
	_ = server.Close() // nobody is left to be told
	if failed := <-served; !errors.Is(failed, http.ErrServerClosed) {
		err = errors.Join(err, fmt.Errorf("service: server: %w", failed))
	}
	return err
}
