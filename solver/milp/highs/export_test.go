//go:build (linux || darwin) && (amd64 || arm64) && !nohighs

package highs

// Live is how many solves call-backs know of.
func Live() int {
	live.mu.RLock()
	defer live.mu.RUnlock()
	return len(live.solves)
}
