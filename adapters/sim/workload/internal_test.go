package workload

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestKMeansFindsKnownClusters(t *testing.T) {
	centres := []float64{-3, 0, 4, 9}
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var points []float64
		for range 2000 {
			points = append(points, centres[rng.IntN(4)]+0.2*rng.NormFloat64())
		}
		got := kmeans(points, 4, rand.New(rand.NewPCG(seed, 2)))
		require.InDeltaSlice(t, centres, got, 0.1, "seed %d", seed)

		rng.Shuffle(len(points), func(i, j int) { points[i], points[j] = points[j], points[i] })
		require.Equal(t, got, kmeans(points, 4, rand.New(rand.NewPCG(seed, 2))), "order of points")
	}
}

func TestKMeansFewPoints(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	require.Empty(t, kmeans(nil, 3, rng))
	require.Equal(t, []float64{7}, kmeans([]float64{7, 7, 7}, 3, rng))
	require.Equal(t, []float64{1, 2}, kmeans([]float64{2, 1, 2, 1}, 5, rng))
}

// TestKMeansIsALocalOptimum: every centre is the mean of the points nearest to it.
func TestKMeansIsALocalOptimum(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 3))
		points := make([]float64, 500)
		for i := range points {
			points[i] = rng.NormFloat64() * 3
		}
		centres := kmeans(points, 1+int(seed%8), rng)
		require.True(t, slices.IsSorted(centres))
		sum, n := make([]float64, len(centres)), make([]float64, len(centres))
		for _, p := range points {
			c := nearest(centres, p)
			for _, other := range centres {
				require.LessOrEqual(t, math.Abs(p-centres[c]), math.Abs(p-other))
			}
			sum[c] += p
			n[c]++
		}
		for c := range centres {
			require.InDelta(t, sum[c]/n[c], centres[c], 1e-6)
		}
	}
}

func TestArrivalsAreBursty(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	const n = 200_000
	at := arrivals(n, n*time.Second, rng)
	require.True(t, slices.IsSorted(at))
	require.Less(t, at[n-1], time.Duration(n)*time.Second)
	var sum, square float64
	var last time.Duration
	for _, a := range at {
		gap := (a - last).Seconds()
		last = a
		sum += gap
		square += gap * gap
	}
	mean := sum / n
	require.InDelta(t, 1, mean, 0.01)
	require.InDelta(t, 4, square/n/(mean*mean)-1, 0.2)
}
