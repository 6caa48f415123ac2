package slearn

import (
	"fmt"

	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched/agent"
)

// Scheme is how GS is told sizes: a predictor, or a policy that needs none.
type Scheme uint8

// The schemes, by the paper's names, and ours.
const (
	// SLearn samples jobs of at least three tasks.
	SLearn Scheme = iota
	// JointScheme joins history and sampling: see [Joint].
	JointScheme
	// ThreeSigma is history, by utility; ThreeSigmaTL has thin jobs enter the first queue.
	ThreeSigma
	ThreeSigmaTL
	// PointEst is history's median.
	PointEst
	// LAS goes by attained service, FIFO by arrival alone.
	LAS
	FIFO
	// Oracle knows the truth.
	Oracle

	schemes
)

// Knowledge is what the predictors of schemes are made of.
type Knowledge struct {
	// ThinLimit is the number of tasks below which a job is thin: 3 in the paper.
	ThinLimit int32
	// Ratio is the sampling ratio; nil is the paper's adaptive one.
	Ratio *Ratio
	// History makes what has learnt from earlier jobs, as [Past] has it, and Describe tells jobs' features.
	History  func() (predict.Predictor, error)
	Describe func(*agent.Job) predict.Job
	// Truth is a job's true size, in seconds. Only a simulator has it.
	Truth func(*agent.Job) float64
}

// Configure sets the predictor of a scheme, and what else makes it. What the scheme does not need of the knowledge may
// be nil; what is missing is an [ErrConfig].
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
	if k.History == nil || k.Describe == nil {
		return missing("history")
	}
	of, err := k.History()
	if err != nil {
		return err
	}
	past := Past{of, k.Describe}
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
