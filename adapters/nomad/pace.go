package nomad

import (
	"fmt"
	"time"

	"github.com/hedgesched/hedge/adapters"
)

const (
	// listShare limits listings without an event stream to one part in listShare of the time.
	listShare = 10
	// briefly is how long the stream may be missing before that is reported. soon and rarely are the minimum times between
	// listings, before and after that.
	briefly = time.Minute
	soon    = time.Second
	rarely  = 10 * time.Second
)

// pace determines how often everything is listed while there is no event stream.
type pace struct {
	began time.Time     // the start of the last listing
	took  time.Duration // its duration
	since time.Time     // since when no stream continues the last listing; zero if one does
}

// without reports whether everything must be listed because there is no stream. If there was none for long, the error
// says why.
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
