package experiment

import (
	"bytes"
	"sync"

	"github.com/hedgesched/hedge/adapters/sim/workload"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched/systems"
)

// trained is one seed's workload with a predictor that has seen its history. The history is walked
// once; each run gets a copy of its own, because runs go on learning.
type trained struct {
	work     *workload.Workload
	once     sync.Once
	snapshot []byte
	err      error
	looked   sync.Once
	runtimes map[string]float64 // made when first it is asked for
}

func newTrained(w *workload.Workload) *trained { return &trained{work: w} }

func (t *trained) runtime(j predict.Job) (float64, bool) {
	t.looked.Do(func() {
		t.runtimes = make(map[string]float64, len(t.work.Jobs))
		for i := range t.work.Jobs {
			t.runtimes[t.work.Jobs[i].ID] = t.work.Jobs[i].Work.Runtime().Seconds()
		}
	})
	r, ok := t.runtimes[j.ID]
	return r, ok
}

// history returns a predictor in the state it has before the first submission.
func (t *trained) history() (predict.Predictor, error) {
	t.once.Do(func() {
		h, err := predict.NewHistory(nil)
		if err == nil {
			err = t.work.TrainPredictor(h)
		}
		var b bytes.Buffer
		if err == nil {
			err = h.Save(&b)
		}
		t.snapshot, t.err = b.Bytes(), err
	})
	if t.err != nil {
		return nil, t.err
	}
	h, err := predict.NewHistory(nil)
	if err != nil {
		return nil, err
	}
	if err := h.Load(bytes.NewReader(t.snapshot)); err != nil {
		return nil, err
	}
	return h, nil
}

// knowledge is what a system may be told of runtimes.
func (s *Spec) knowledge(t *trained, seed int64) *systems.Knowledge {
	k := &systems.Knowledge{Truth: t.runtime, History: t.history, Shared: s.Estimates}
	if p := s.Perturb; p != nil {
		k.History = func() (predict.Predictor, error) {
			return predict.NewPerturbed(t.runtime, predict.Perturbation{
				Shift: p.Shift, ShiftDeviation: 0.1, CoV: p.CoV, Seed: uint64(seed)})
		}
	}
	return k
}
