package sched

import "fmt"

// MaxName is the longest name of a job, node, resource, attribute or label, in bytes. Longer ones are refused: they
// would fill logs, reasons and histories.
const MaxName = 1024

// maxShown is how much of a name an error shows, in bytes.
const maxShown = 64

// short is a name as errors show it.
func short(name string) string {
	if len(name) <= MaxName {
		return name
	}
	return name[:maxShown] + "..."
}

// tooLong describes a name that is longer than [MaxName].
func tooLong(name string) string {
	return fmt.Sprintf("%q of %d bytes, at most %d", short(name), len(name), MaxName)
}

// overlong is the first by order of the names that are longer than [MaxName]; empty if none is.
func overlong[V any](of map[string]V) string {
	first := ""
	for name := range of {
		if len(name) > MaxName && (first == "" || name < first) {
			first = name
		}
	}
	return first
}
