package utility

import "slices"

// sumPoints evaluates the sum of cs at every time, on both sides where it jumps.
func sumPoints(times []float64, cs []*Curve) []Point {
	slices.Sort(times)
	times = slices.Compact(times)
	points := make([]Point, 0, len(times)+1)
	for _, t := range times {
		at, after := 0.0, 0.0
		for _, c := range cs {
			at += c.At(t)
			after += c.after(t)
		}
		points = append(points, Point{T: t, V: at})
		if after != at {
			points = append(points, Point{T: t, V: after})
		}
	}
	return points
}
