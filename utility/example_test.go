package utility_test

import (
	"fmt"
	"time"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/utility"
)

// The SLO job of the 3Sigma paper's Fig. 5: due in 15 minutes, runtime uniform on
// 0 … 10 minutes. The later it starts, the less likely it makes it.
func ExampleExpected() {
	slo, err := utility.Deadline(15*time.Minute, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	runtime, err := dist.NewUniform(0, 600)
	if err != nil {
		fmt.Println(err)
		return
	}
	for start := 0.0; start <= 900; start += 150 {
		fmt.Print(utility.Expected(slo, runtime, start), " ")
	}
	// Output: 1 1 1 0.75 0.5 0.25 0
}

func ExampleExpectedAll() {
	batch, err := utility.LinearDecay(10, time.Hour)
	if err != nil {
		fmt.Println(err)
		return
	}
	runtime, err := dist.FromSamples([]float64{600, 1200})
	if err != nil {
		fmt.Println(err)
		return
	}
	starts := []float64{0, 900, 1800, 2700}
	worth := make([]float64, len(starts))
	utility.ExpectedAll(worth, batch, runtime, starts)
	fmt.Printf("%.2f\n", worth)
	// Output: [7.50 5.00 2.50 0.42]
}

func ExampleDeadlineTail() {
	late, err := utility.DeadlineTail(time.Minute, 2*time.Minute, 100, 10)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(late.At(60), late.At(120), late.At(180))
	// Output: 100 5 0
}

// A batch job is worth half as much tomorrow, and something for ever.
func ExampleBestEffort() {
	const day = 24 * time.Hour
	batch, err := utility.BestEffort(8, day)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, days := range []int{0, 1, 2, 3, 20, 36500} {
		fmt.Println(days, batch.At((time.Duration(days) * day).Seconds()))
	}
	// Output:
	// 0 8
	// 1 4
	// 2 2
	// 3 1
	// 20 0.00390625
	// 36500 7.62939453125e-06
}
