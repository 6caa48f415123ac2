package adapters

import (
	"time"

	"github.com/hedgesched/hedge/utility"
)

// DefaultUtility is what the completion of a job is worth that says nothing of it: 5 at once, which falls evenly to 1
// within 24 days and stays there, and, with a deadline above 0 after its submission, 100 more until then. It is never
// 0, as policies that go by it would then never start the job, however late it is.
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
		return nil // which cannot be, of constants and a deadline above 0
	}
	return curve
}
