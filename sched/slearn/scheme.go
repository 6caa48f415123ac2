package slearn

import (
	"fmt"

	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched/agent"
)

// Scheme is how GS chooses a job's queue: a predictor, or a policy that needs none.
type Scheme uint8

// The schemes, by the paper's names, and ours.
const (
	// SLearn samples jobs that are not thin.
	SLearn Scheme = iota
	// JointScheme combines history and sampling; see [Joint].
	JointScheme
	// ThreeSigma uses history, by expected utility. ThreeSigmaTL also puts thin jobs into the first queue.
	ThreeSigma
	ThreeSigmaTL
	// PointEst uses history's median.
	PointEst
	// LAS goes by attained service, FIFO by arrival alone.
	LAS
	FIFO
	// Oracle knows the true sizes.
	Oracle

	schemes
)

// Knowledge is what the schemes' predictors are made from.
type Knowledge struct {
	// ThinLimit is the number of tasks below which a job is thin: 3 in the paper.
	ThinLimit int32
	// Ratio is the sampling ratio; nil means the paper's adaptive one.
	Ratio *Ratio
	// History makes the predictor and Describe the features of a [Past]. A nil Describe means [Describe].
	History  func() (predict.Predictor, error)
	Describe func(*agent.Job) predict.Job
	// Truth is a job's true size, in seconds. Only a simulator has it.
	Truth func(*agent.Job) float64
}

// Configure sets the fields of c that make up the scheme. Fields of k that the scheme does not need may be nil. If a
// field that it needs is nil, the error wraps [ErrConfig].
func (s Scheme) Configure(c *Config, k *Knowledge) error {
	missing := func(what string) error { return fmt.Errorf("%w: no %s", ErrConfig, what) }
	switch s {
	case SLearn:
		c.Predictor = Thin{k.ThinLimit, NewSampling(k.Ratio)}
		return nil
	case LAS:
		c.Attained = true
		return nil
	case FIFO:
		c.Queues.Count = 1
		return nil
	case Oracle:
		if k.Truth == nil {
			return missing("truth")
		}
		c.Predictor = Known(k.Truth)
		return nil
	}
	if s >= schemes {
		return fmt.Errorf("%w: scheme %d", ErrConfig, s)
	}
	past, err := k.past()
	if err != nil {
		return err
	}
	switch s {
	case JointScheme:
		joint, err := NewJoint(past, k.ThinLimit, k.Ratio, c.Queues)
		if err != nil {
			return err
		}
		c.Predictor = joint
	case ThreeSigma:
		c.Predictor = &History{Past: past}
	case ThreeSigmaTL:
		c.Predictor = Thin{k.ThinLimit, &History{Past: past}}
	case PointEst:
		c.Predictor = &History{Past: past, Median: true}
	}
	return nil
}

// past is a new history.
func (k *Knowledge) past() (Past, error) {
	if k.History == nil {
		return Past{}, fmt.Errorf("%w: no history", ErrConfig)
	}
	p := Past{Describe: k.Describe}
	if p.Describe == nil {
		p.Describe = Describe
	}
	var err error
	p.Of, err = k.History()
	return p, err
}
