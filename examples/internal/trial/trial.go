// Package trial runs the example schedulers' programs in their tests, within the process of the test. It knows nothing
// of clusters.
package trial

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"
)

// Program is what a scheduler's main calls: it runs until the context is done, and tells up where it listens.
type Program func(ctx context.Context, args []string, log *slog.Logger, up func(net.Addr)) error

// Start runs the program until end is called, or the test is over, and tells where it answers.
func Start(t *testing.T, run Program, args ...string) (at string, end func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	addr, done := make(chan net.Addr, 1), make(chan error, 1)
	go func() {
		done <- run(ctx, args, slog.New(slog.NewTextHandler(t.Output(), nil)), func(a net.Addr) { addr <- a })
	}()
	end = sync.OnceValue(func() error {
		cancel()
		return <-done
	})
	t.Cleanup(func() { _ = end() })
	select {
	case a := <-addr:
		at = "http://" + a.String()
	case err := <-done:
		done <- err
		t.Fatalf("it has ended before it listened: %v", err)
	}
	return at, end
}

// Patience is how long anything may take on a machine that is busy with other things.
const Patience = 8 * time.Minute

// Eventually waits until something holds.
func Eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(Patience); !holds(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it did not come about that %s", what)
		}
	}
}

// Get is what is answered, and its status.
func Get(t *testing.T, url string) (text string, status int) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body), resp.StatusCode
}
