//go:build !race

package nativetest

const raceDetector = false
