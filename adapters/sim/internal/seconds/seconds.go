// Package seconds writes durations as decimal seconds, for decision logs and traces alike. It loses
// nothing: what it writes reads back as the same duration. It does not read.
package seconds

import (
	"strconv"
	"time"
)

// Append appends d to b exactly, with no more decimals than it needs.
func Append(b []byte, d time.Duration) []byte {
	if d < 0 {
		b = append(b, '-')
		d = -d
	}
	b = strconv.AppendInt(b, int64(d/time.Second), 10)
	nanos := int64(d % time.Second)
	if nanos == 0 {
		return b
	}
	b = append(b, '.')
	for unit := int64(1e8); nanos > 0; unit /= 10 {
		b = append(b, byte('0'+nanos/unit))
		nanos %= unit
	}
	return b
}
