package service

import (
	"slices"
	"time"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/outlook"
)

// keeper watches the cycles of a term and saves what was learnt.
type keeper struct {
	*Instance
	history *predict.History
	cluster *adapters.Cluster
	saved   time.Time // the last try
	// estimates are those of starts; nil if there are none.
	estimates *outlook.Teller
}

// observe is called after every cycle, including failed ones.
func (k *keeper) observe(c *sched.Cycle) {
	now := k.opt.Clock.Now()
	k.pulse.beat(now)
	if c.Plan != nil {
		k.pulse.fail(nil)
	}
	k.opt.Metrics.Observe(c)
	if m, ok := k.opt.Metrics.(Estimating); ok && k.estimates != nil && c.Plan != nil {
		m.Estimated(c, k.estimates.Told())
	}
	k.opt.Metrics.Refused(k.cluster.Refused())
	if k.opt.Observe != nil {
		k.opt.Observe(c)
	}
	k.tell(c)
	if now.Sub(k.saved) >= k.opt.Save {
		k.saved = now
		_ = k.save() // it is logged, and tried again
	}
}

// tell logs what failed in a cycle.
func (k *keeper) tell(c *sched.Cycle) {
	for _, e := range adapters.Failures(c) {
		k.opt.Log.Warn("failed", "job", e.ID, "error", e.Err)
	}
	for _, r := range slices.Concat(c.Rejected, c.Unplaceable) {
		k.opt.Log.Warn("cannot be placed", "job", r.Job.ID, "error", r.Err)
	}
	if len(c.UnusedAttributes) > 0 {
		k.opt.Log.Info("no feature of the predictor uses these attributes", "attributes", c.UnusedAttributes)
	}
	if len(c.UnfilledFeatures) > 0 {
		k.opt.Log.Info("no job has these features of the predictor so far", "features", c.UnfilledFeatures)
	}
	for _, err := range c.Ignored {
		k.opt.Log.Error("ignored", "error", err)
	}
}

// fail lets the loop go on if the cluster does not answer.
func (k *keeper) fail(err error) error {
	k.pulse.fail(err)
	k.opt.Metrics.Fail(err)
	k.opt.Log.Warn("cycle", "error", err)
	return adapters.Unavailable(err)
}

func (k *keeper) save() error {
	if k.opt.History == "" {
		return nil
	}
	err := k.opt.History.Save(k.history, k.cluster.LearntUntil())
	if err != nil {
		k.opt.Metrics.Warn()
		k.opt.Log.Error("the history is not saved", "error", err)
	}
	return err
}
