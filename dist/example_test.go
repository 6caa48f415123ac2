package dist_test

import (
	"fmt"

	"github.com/hedgesched/hedge/dist"
)

// What is known of a job that has run for four minutes of a runtime that was
// uniform on 0 … 10 minutes.
func ExampleCondition() {
	runtime, err := dist.NewUniform(0, 10)
	if err != nil {
		fmt.Println(err)
		return
	}
	left, err := dist.Condition(runtime, 4)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(left.Mean(), left.CDF(7))
	// Output: 7 0.5
}

// The expected use of a node in slots of 2.5 minutes (3Sigma, Fig. 5c).
func ExampleSurvivals() {
	runtime, err := dist.NewUniform(0, 10)
	if err != nil {
		fmt.Println(err)
		return
	}
	use := make([]float64, 6)
	dist.Survivals(use, runtime, 0, 2.5)
	fmt.Println(use)
	// Output: [1 0.75 0.5 0.25 0 0]
}

func ExampleSketch() {
	sketch := dist.NewSketch(0)
	for _, seconds := range []float64{60, 62, 61, 600, 61} {
		if err := sketch.Add(seconds); err != nil {
			fmt.Println(err)
			return
		}
	}
	runtime, err := sketch.Distribution()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(sketch.Count(), sketch.Quantile(0.5), sketch.Max(), runtime.CDF(100))
	// Output: 5 61 600 0.8
}

func ExampleSum() {
	die, err := dist.FromSamples([]float64{1, 2, 3, 4, 5, 6})
	if err != nil {
		fmt.Println(err)
		return
	}
	two, err := dist.Sum(die, die)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.1f %.4f\n", two.Mean(), dist.Survival(two, 11))
	// Output: 7.0 0.0278
}
