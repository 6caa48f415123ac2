package dist

import "math"

// Normal is a normal distribution cut off at 0, as the perturbation study of
// the 3Sigma paper uses it (section 6.4). Make it with [NewNormal]; the zero value is
// certainly 0.
type Normal struct {
	mu, sigma float64
	above     float64 // mass of the whole normal above 0
}

// NewNormal returns the distribution of a normal variable with mean mu and standard deviation
// sigma, given that it is not negative. The mean of the result is therefore above mu. Mu is finite and
// at least -35 sigma; sigma is finite and > 0.
func NewNormal(mu, sigma float64) (Normal, error) {
	const fn = "dist.NewNormal"
	if err := checkPositive(fn, "sigma", sigma); err != nil {
		return Normal{}, err
	}
	if !isFinite(mu) || mu < -35*sigma || !isFinite(mu/sigma) || !isFinite(mu+float64(40*sigma)) {
		return Normal{}, &ParamError{Func: fn, Param: "mu", Value: mu, Want: "finite and not below -35 sigma"}
	}
	return Normal{mu: mu, sigma: sigma, above: phi(mu / sigma)}, nil
}

// CDF implements [Distribution].
func (n Normal) CDF(x float64) float64 {
	if x < 0 {
		return 0
	}
	if n.sigma == 0 {
		return Point{}.CDF(x)
	}
	z := (x - n.mu) / n.sigma
	if n.mu > 0 && z < 0 {
		return math.Max(phi(z)-phi(-n.mu/n.sigma), 0) / n.above
	}
	return clampProbability(1 - n.Survival(x))
}

// Survival implements [Survivor].
func (n Normal) Survival(x float64) float64 {
	switch {
	case x < 0:
		return 1
	case n.sigma == 0:
		return 1 - n.CDF(x)
	}
	return phi((n.mu-x)/n.sigma) / n.above
}

// Quantile implements [Distribution].
func (n Normal) Quantile(p float64) float64 {
	p = clampProbability(p)
	switch {
	case n.sigma == 0:
		return Point{}.Quantile(p)
	case p == 0:
		return 0
	}
	if n.mu > 0 && p < 0.5 {
		return math.Max(n.mu+float64(n.sigma*phiInverse(float64(p*n.above)+phi(-n.mu/n.sigma))), 0)
	}
	return math.Max(n.mu-float64(n.sigma*phiInverse((1-p)*n.above)), 0)
}

// Mean implements [Distribution].
func (n Normal) Mean() float64 {
	if n.sigma == 0 {
		return 0
	}
	return n.mu + n.sigma*density(n.mu/n.sigma)/n.above
}

// Bounds implements [Distribution].
func (n Normal) Bounds() (lo, hi float64) {
	if n.sigma == 0 {
		return 0, 0
	}
	return 0, math.Inf(1)
}

// PartialMean implements [PartialMeaner].
func (n Normal) PartialMean(x float64) float64 {
	switch {
	case x <= 0 || n.sigma == 0:
		return 0
	case math.IsInf(x, 1):
		return n.Mean()
	}
	z := (x - n.mu) / n.sigma
	return math.Max(float64(n.mu*n.CDF(x))-n.sigma*(density(z)-density(n.mu/n.sigma))/n.above, 0)
}

func (n Normal) rescale(k float64) Distribution {
	if s, err := NewNormal(k*n.mu, k*n.sigma); err == nil {
		return s
	}
	return affine{d: n, mul: k}
}

// density is that of the standard normal.
func density(z float64) float64 { return math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) }
