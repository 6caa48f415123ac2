package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const source = `package p

func Fused(x, y, z float64) float64 { return x*y + z }

func Rounded(x, y, z float64) float64 { return float64(x*y) + z }

func Less(x, y, z float64) float64 {
	p := x * y
	return z - p
}

func half(x float64) float64 { return x / 2 }

func Inlined(x, y float64) float64 { return y + half(x) }
`

func TestFused(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module p\n\ngo 1.26\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "p.go"), []byte(source), 0o600))
	t.Setenv("GOWORK", "off")
	for platform, want := range map[string][]int{
		"amd64": nil, "386": nil,
		"arm64": {3, 9, 14}, "riscv64": {3, 9, 14}, "loong64": {3, 9, 14},
		"amd64/v3": {3, 14}, "ppc64le": {3, 14}, "s390x": {3, 14}, // z - x*y is not fused
	} {
		t.Run(platform, func(t *testing.T) {
			got, err := fused(dir, platform, "./...")
			require.NoError(t, err)
			var at []string
			for _, line := range want {
				at = append(at, fmt.Sprintf("%s:%d", filepath.Join(dir, "p.go"), line))
			}
			assert.ElementsMatch(t, at, got)
		})
	}
}

func TestFusedErrors(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("GOWORK", "off")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module p\n\ngo 1.26\n"), 0o600))
	_, err := fused(dir, "arm64", "./...")
	assert.ErrorContains(t, err, "no functions")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "p.go"), []byte("package p\n\nvar x int = true\n"), 0o600))
	_, err = fused(dir, "arm64", "./...")
	assert.ErrorContains(t, err, "p.go:3")
}
