package dist

import "math"

// Exponential is the memoryless distribution of a given mean. Make it with
// [NewExponential]; the zero value is certainly 0.
type Exponential struct{ mean float64 }

// NewExponential returns the exponential distribution of the given mean,
// finite and > 0.
func NewExponential(mean float64) (Exponential, error) {
	if err := checkPositive("dist.NewExponential", "mean", mean); err != nil {
		return Exponential{}, err
	}
	return Exponential{mean: mean}, nil
}

// CDF implements [Distribution].
func (e Exponential) CDF(x float64) float64 {
	if x < 0 {
		return 0
	}
	if e.mean == 0 {
		return Point{}.CDF(x)
	}
	return -math.Expm1(-x / e.mean)
}

// Survival implements [Survivor].
func (e Exponential) Survival(x float64) float64 {
	if x < 0 {
		return 1
	}
	if e.mean == 0 {
		return 1 - e.CDF(x)
	}
	return math.Exp(-x / e.mean)
}

// Quantile implements [Distribution].
func (e Exponential) Quantile(p float64) float64 {
	if e.mean == 0 {
		return Point{}.Quantile(p)
	}
	return float64(-e.mean*math.Log1p(-clampProbability(p))) + 0 // +0: not -0
}

// Mean implements [Distribution].
func (e Exponential) Mean() float64 { return e.mean }

// Bounds implements [Distribution].
func (e Exponential) Bounds() (lo, hi float64) {
	if e.mean == 0 {
		return 0, 0
	}
	return 0, math.Inf(1)
}

// PartialMean implements [PartialMeaner].
func (e Exponential) PartialMean(x float64) float64 {
	switch {
	case x <= 0 || e.mean == 0:
		return 0
	case math.IsInf(x, 1):
		return e.mean
	}
	u := x / e.mean
	return e.mean * math.Max(-math.Expm1(-u)-float64(u*math.Exp(-u)), 0)
}

func (e Exponential) rescale(k float64) Distribution { return Exponential{mean: k * e.mean} }

// Lognormal is exp(N) of a normal N. Make it with [NewLognormal]; the zero
// value is certainly 1.
type Lognormal struct{ mu, sigma float64 }

// NewLognormal returns the distribution of exp(N(mu, sigma)). Mu is finite,
// sigma finite and > 0, and the mean exp(mu + sigma²/2) must be neither 0 nor
// infinite in a float64.
func NewLognormal(mu, sigma float64) (Lognormal, error) {
	const fn = "dist.NewLognormal"
	if !isFinite(mu) {
		return Lognormal{}, &ParamError{Func: fn, Param: "mu", Value: mu, Want: "a finite number"}
	}
	if err := checkPositive(fn, "sigma", sigma); err != nil {
		return Lognormal{}, err
	}
	l := Lognormal{mu: mu, sigma: sigma}
	if m := l.Mean(); !isFinite(m) || m == 0 {
		return Lognormal{}, &ParamError{Func: fn, Param: "exp(mu+sigma²/2)", Value: m, Want: wantPositive}
	}
	return l, nil
}

// z is the standard score of x.
func (l Lognormal) z(x float64) float64 { return (math.Log(x) - l.mu) / l.sigma }

// CDF implements [Distribution].
func (l Lognormal) CDF(x float64) float64 {
	switch {
	case x <= 0:
		return 0
	case l.sigma == 0:
		return Point{v: math.Exp(l.mu)}.CDF(x)
	}
	return phi(l.z(x))
}

// Survival implements [Survivor].
func (l Lognormal) Survival(x float64) float64 {
	switch {
	case x <= 0:
		return 1
	case l.sigma == 0:
		return 1 - l.CDF(x)
	}
	return phi(-l.z(x))
}

// Quantile implements [Distribution].
func (l Lognormal) Quantile(p float64) float64 {
	if l.sigma == 0 {
		return Point{v: math.Exp(l.mu)}.Quantile(p)
	}
	return math.Exp(l.mu + float64(l.sigma*phiInverse(clampProbability(p))))
}

// Mean implements [Distribution].
func (l Lognormal) Mean() float64 { return math.Exp(l.mu + float64(l.sigma*l.sigma/2)) }

// Bounds implements [Distribution].
func (l Lognormal) Bounds() (lo, hi float64) {
	if l.sigma == 0 {
		return math.Exp(l.mu), math.Exp(l.mu)
	}
	return 0, math.Inf(1)
}

// PartialMean implements [PartialMeaner].
func (l Lognormal) PartialMean(x float64) float64 {
	switch {
	case x <= 0:
		return 0
	case l.sigma == 0:
		return Point{v: math.Exp(l.mu)}.PartialMean(x)
	}
	return l.Mean() * phi(l.z(x)-l.sigma)
}

func (l Lognormal) rescale(k float64) Distribution {
	if s, err := NewLognormal(l.mu+math.Log(k), l.sigma); err == nil {
		return s
	}
	return affine{d: l, mul: k}
}

// phi is the standard normal CDF, precise in the left tail.
func phi(z float64) float64 { return float64(0.5 * math.Erfc(-z/math.Sqrt2)) }

// phiInverse inverts phi; ±Inf at 0 and 1.
func phiInverse(p float64) float64 {
	if p < 1e-10 && p > 0 { // math.Erfcinv rounds 1-x to 1 down there
		return invertPhi(p)
	}
	return -math.Sqrt2 * math.Erfcinv(2*p)
}

// invertPhi bisects phi(z) = p for a small p.
func invertPhi(p float64) float64 {
	lo, hi := -39.0, 0.0
	for range 80 {
		m := (lo + hi) / 2
		if phi(m) < p {
			lo = m
		} else {
			hi = m
		}
	}
	return hi
}
