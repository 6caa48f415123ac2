package service_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/service"
)

func TestHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProgram(t, nil)
		p.driver.hang = make(chan struct{})
		metrics := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "metrics") })
		get := func(h http.Handler, path string) (string, int) {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, http.NoBody))
			return w.Body.String(), w.Code
		}
		h := p.Handler(metrics)
		text, code := get(h, "/readyz")
		assert.Equal(t, http.StatusServiceUnavailable, code)
		assert.Contains(t, text, "the lease has not answered yet")
		p.background(t)
		synctest.Wait()
		for path, want := range map[string]string{"/healthz": "ok\n", "/readyz": "ok\n", "/metrics": "metrics"} {
			text, code := get(h, path)
			assert.Equal(t, http.StatusOK, code, path)
			assert.Equal(t, want, text, path)
		}
		time.Sleep(6 * time.Minute)
		text, code = get(h, "/healthz")
		assert.Equal(t, http.StatusServiceUnavailable, code)
		assert.Contains(t, text, "no cycle has ended for 6m0s")
		_, code = get(h, "/elsewhere")
		assert.Equal(t, http.StatusNotFound, code)
		_, code = get(p.Handler(nil), "/metrics")
		assert.Equal(t, http.StatusNotFound, code)
		close(p.driver.hang)
	})
}

// TestServe: requests are answered for as long as the work goes on, whose error is returned.
func TestServe(t *testing.T) {
	i, err := service.New(service.Options{Policy: fifo, LeaseFor: leaseFor})
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	bad, url := errors.New("bad"), "http://"+listener.Addr().String()+"/healthz"
	err = i.Serve(t.Context(), listener, i.Handler(nil), func(context.Context) error {
		resp, err := http.Get(url)
		require.NoError(t, err)
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		assert.Equal(t, "ok\n", string(text))
		return bad
	})
	require.ErrorIs(t, err, bad)
	_, err = listener.Accept()
	require.ErrorIs(t, err, net.ErrClosed)
}

// TestServeFails: a program that nobody could ask how it does ends.
func TestServeFails(t *testing.T) {
	i, err := service.New(service.Options{Policy: fifo, LeaseFor: leaseFor})
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	err = i.Serve(t.Context(), listener, i.Handler(nil), func(ctx context.Context) error {
		require.NoError(t, listener.Close())
		<-ctx.Done()
		return nil
	})
	require.ErrorIs(t, err, net.ErrClosed)
}
