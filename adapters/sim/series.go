package sim

import "time"

// Series is the use of the cluster over time in at most [MaxPoints] equal steps.
type Series struct {
	// Step is the length of each step; Points[i] covers [i*Step, (i+1)*Step).
	Step   time.Duration
	Points []Point
}

// Point is the mean over one step of a series.
type Point struct {
	// SLO and BestEffort are the shares of the cluster that each class holds, in [0, 1]. The last step counts in full,
	// though the run may end within it.
	SLO, BestEffort float64
	// Pending and Running are numbers of jobs.
	Pending, Running float64
}

// MaxPoints bounds a series. Its step doubles when the run outgrows it.
const MaxPoints = 1024

// level is what a recorder integrates over time.
type level struct {
	tasks            [2]int // of SLO and best-effort jobs that run
	pending, running int
}

// recorder integrates a piecewise constant level into steps of equal length.
type recorder struct {
	step   time.Duration
	points []Point // sums of level*seconds, until series
	last   time.Duration
}

func newRecorder() recorder {
	return recorder{step: time.Second, points: make([]Point, 0, MaxPoints)}
}

// advance notes that the level held from the last call until now.
func (r *recorder) advance(now time.Duration, l *level) {
	if now <= r.last {
		return
	}
	for now > r.step*MaxPoints {
		r.halve()
	}
	for r.last < now {
		i := int(r.last / r.step)
		for len(r.points) <= i {
			r.points = append(r.points, Point{})
		}
		until := min(now, time.Duration(i+1)*r.step)
		seconds := (until - r.last).Seconds()
		p := &r.points[i]
		p.SLO += float64(float64(l.tasks[0]) * seconds)
		p.BestEffort += float64(float64(l.tasks[1]) * seconds)
		p.Pending += float64(float64(l.pending) * seconds)
		p.Running += float64(float64(l.running) * seconds)
		r.last = until
	}
}

// halve joins neighbours, so that each step is twice as long.
func (r *recorder) halve() {
	n := (len(r.points) + 1) / 2
	for i := range n {
		p := r.points[2*i]
		if 2*i+1 < len(r.points) {
			o := r.points[2*i+1]
			p.SLO += o.SLO
			p.BestEffort += o.BestEffort
			p.Pending += o.Pending
			p.Running += o.Running
		}
		r.points[i] = p
	}
	r.points = r.points[:n]
	r.step *= 2
}

// series turns the sums into means, for a cluster that holds a number of tasks.
func (r *recorder) series(capacity float64) Series {
	points := make([]Point, len(r.points))
	seconds := r.step.Seconds()
	for i, p := range r.points {
		points[i] = Point{
			SLO:        p.SLO / seconds / capacity,
			BestEffort: p.BestEffort / seconds / capacity,
			Pending:    p.Pending / seconds,
			Running:    p.Running / seconds,
		}
	}
	return Series{Step: r.step, Points: points}
}
