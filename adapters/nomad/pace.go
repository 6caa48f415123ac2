package nomad

import (
	"fmt"
	"time"

	"github.com/hedgesched/hedge/adapters"
)

const (
	// listShare is the part of the time, one in so many, that goes into listings where there is no event stream.
	listShare = 10
	// briefly is how long a stream may be away until it is told, and soon and rarely are how long after another listing
	// all is listed, at least, before that and then.
	briefly = time.Minute
	soon    = time.Second
	rarely  = 10 * time.Second
)

// pace is how often all is listed while there is no event stream.
type pace struct {
	began time.Time     // when all was listed last
	took  time.Duration // and how long that took
	since time.Time     // since when there is no stream that the last listing goes with; zero while there is
}

// without tells whether all is to be listed because there is no stream, and with an error what is wrong where it has
// been so for long.
func (p *pace) without(now time.Time, followed bool, why error) (due bool, err error) {
	if followed {
		p.since = time.Time{}
		return false, nil
	}
	if p.since.IsZero() {
		p.since = now
	}
	least, away := soon, now.Sub(p.since)
	if away >= briefly {
		least = rarely
		if err = fmt.Errorf("%w: nomad: no event stream for %v", adapters.ErrUnavailable,
			away.Round(time.Second)); why != nil {
			err = fmt.Errorf("%w: %w", err, why)
		}
	}
	return now.Sub(p.began) >= max(least, listShare*p.took), err
}
