package adapters

import (
	"time"

	"github.com/hedgesched/hedge/utility"
)

// DefaultUtility is the utility of a job that names none. Completion is worth 5 at once, falls linearly to 1 within 24
// days, and stays there. With a deadline above 0, counted from submission, completion by then is worth 100 more. It is
// never 0: a policy that goes by it would never start such a job, however late it is.
func DefaultUtility(deadline time.Duration) utility.Utility {
	const least, most, fall = 1, 5, 24 * 24 * time.Hour
	curve, err := utility.Piecewise([]utility.Point{{T: 0, V: most}, {T: fall.Seconds(), V: least}})
	if err == nil && deadline > 0 {
		var by *utility.Curve
		if by, err = utility.Deadline(deadline, 100); err == nil {
			curve, err = utility.Sum(curve, by)
		}
	}
	if err != nil {
		return nil // cannot happen: the points are constants and the deadline is above 0
	}
	return curve
}
