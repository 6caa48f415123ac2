package seconds_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/hedgesched/hedge/adapters/sim/internal/seconds"
)

func TestAppend(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0", time.Second: "1", 1500 * time.Millisecond: "1.5", 1: "0.000000001",
		-2050 * time.Millisecond: "-2.05", time.Hour + 10: "3600.00000001",
	} {
		assert.Equal(t, "t="+want, string(seconds.Append([]byte("t="), d)))
	}
}
