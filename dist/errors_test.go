package dist_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/hedgesched/hedge/dist"
)

func TestErrorsShowWhatWasRefused(t *testing.T) {
	for want, make := range map[string]func() error{
		"dist.Sum: invalid parameter: a = <nil>, want a distribution, not nil": func() error {
			_, err := dist.Sum(nil, dist.Point{})
			return err
		},
		"dist.Condition: invalid parameter: d = <nil>, want a histogram made by a constructor": func() error {
			_, err := dist.Condition((*dist.Histogram)(nil), 1)
			return err
		},
		"dist.Condition: invalid parameter: d = &dist.Histogram{}, want a histogram made by a constructor": func() error {
			_, err := dist.Condition(&dist.Histogram{}, 1)
			return err
		},
		"dist.Condition: invalid parameter: elapsed = -1.5, want a finite number >= 0": func() error {
			_, err := dist.Condition(dist.Point{}, -1.5)
			return err
		},
		"dist.MaxOf: invalid parameter: n = 1234567890, want 1 … 2³⁰": func() error {
			_, err := dist.MaxOf(dist.Point{}, 1234567890)
			return err
		},
		"dist.FromKnots: invalid parameter: len(x) = 1, want len(cum), and at least 2": func() error {
			_, err := dist.FromKnots([]float64{1}, nil)
			return err
		},
	} {
		assert.EqualError(t, make(), want)
	}
}
