package trial_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/examples/internal/trial"
)

// TestStart: a program is asked where it listens, and ends as it is told to, with its error.
func TestStart(t *testing.T) {
	ended := errors.New("ended")
	at, end := trial.Start(t, func(ctx context.Context, args []string, _ *slog.Logger, up func(net.Addr)) error {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, args[0])
		})}
		context.AfterFunc(ctx, func() { _ = server.Close() })
		up(l.Addr())
		return errors.Join(server.Serve(l), ended)
	}, "hello")
	trial.Eventually(t, "it answers", func() bool {
		text, status := trial.Get(t, at)
		assert.Equal(t, "hello", text)
		return status == http.StatusOK
	})
	require.ErrorIs(t, end(), ended)
	require.ErrorIs(t, end(), ended, "once more")
}
