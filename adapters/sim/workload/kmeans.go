package workload

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
)

// kmeans clusters points on a line into at most k groups by Lloyd's algorithm
// from k-means++ seeds, and returns the centres in rising order. There are fewer than k where there are
// fewer distinct points. Ties and order do not depend on the order of points.
func kmeans(points []float64, k int, rng *rand.Rand) []float64 {
	sorted := slices.Clone(points)
	slices.Sort(sorted)
	if len(sorted) == 0 {
		return nil
	}
	prefix := make([]float64, len(sorted)+1)
	for i, p := range sorted {
		prefix[i+1] = prefix[i] + p
	}
	centres := plusPlus(sorted, k, rng)
	for range 100 {
		moved := 0.0
		lo := 0
		for c := range centres {
			hi := len(sorted)
			if c+1 < len(centres) {
				border := (centres[c] + centres[c+1]) / 2
				hi = lo + sort.Search(len(sorted)-lo, func(i int) bool { return sorted[lo+i] > border })
			}
			if hi > lo {
				mean := (prefix[hi] - prefix[lo]) / float64(hi-lo)
				moved = math.Max(moved, math.Abs(mean-centres[c]))
				centres[c] = mean
			}
			lo = hi
		}
		if moved < 1e-9 {
			break
		}
	}
	return centres
}

// plusPlus draws each next centre with probability proportional to the squared distance
// from the nearest one so far.
func plusPlus(points []float64, k int, rng *rand.Rand) []float64 {
	centres := []float64{points[rng.IntN(len(points))]}
	dist := make([]float64, len(points))
	for i := range dist {
		dist[i] = math.Inf(1)
	}
	for len(centres) < k {
		var sum float64
		last := centres[len(centres)-1]
		for i, p := range points {
			dist[i] = math.Min(dist[i], (p-last)*(p-last))
			sum += dist[i]
		}
		if sum <= 0 {
			break
		}
		u := rng.Float64() * sum
		next := len(points) - 1
		for i, d := range dist {
			if u -= d; u < 0 && d > 0 {
				next = i
				break
			}
		}
		if dist[next] <= 0 {
			break
		}
		centres = append(centres, points[next])
	}
	slices.Sort(centres)
	return centres
}

// nearest is the index of the centre nearest to p, the lower one on a tie.
func nearest(centres []float64, p float64) int {
	i := sort.SearchFloat64s(centres, p)
	if i == len(centres) || i > 0 && p-centres[i-1] <= centres[i]-p {
		i--
	}
	return i
}
