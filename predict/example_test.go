package predict_test

import (
	"bytes"
	"fmt"

	"github.com/hedgesched/hedge/predict"
)

func ExampleHistory() {
	h, err := predict.NewHistory(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	train := predict.Job{Attributes: map[string]string{"user": "u7", "name": "resnet"}}
	for _, runtime := range []float64{310, 300, 320, 305, 900, 300, 310} {
		if err := h.Observe(predict.Observation{Job: train, Runtime: runtime}); err != nil {
			fmt.Println(err)
		}
	}
	p := h.Predict(train)
	fmt.Printf("%s of %s %q from %d runs: %.0f s, 90 %% within %.0f s\n",
		p.Expert.Estimator, p.Expert.Feature, p.Expert.Value, p.Samples, p.Point, p.Dist.Quantile(0.9))
	// Output: median of user+name "u7 resnet" from 7 runs: 310 s, 90 % within 900 s
}

func ExampleHistory_Save() {
	h, _ := predict.NewHistory(nil)
	job := predict.Job{Attributes: map[string]string{"user": "u7"}}
	_ = h.Observe(predict.Observation{Job: job, Runtime: 60})

	var file bytes.Buffer
	if err := h.Save(&file); err != nil {
		fmt.Println(err)
	}
	restarted, _ := predict.NewHistory(nil)
	if err := restarted.Load(&file); err != nil {
		fmt.Println(err)
	}
	fmt.Println(restarted.Predict(job).Point)
	// Output: 60
}

func ExampleHistoryOptions() {
	jvu, err := predict.NewHistory(&predict.HistoryOptions{
		Result: predict.ResultPoint,
		Features: []predict.Feature{
			predict.Attr("user"), predict.Attr("user", "name"), predict.Combine(predict.Attr("user"), predict.HourOfDay()),
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	job := predict.Job{Attributes: map[string]string{"user": "u7"}}
	_ = jvu.Observe(predict.Observation{Job: job, Runtime: 60})
	lo, hi := jvu.Predict(job).Dist.Bounds()
	fmt.Println(lo, hi)
	// Output: 60 60
}
