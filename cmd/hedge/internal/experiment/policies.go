package experiment

// Policies are the names of every policy, in the order of reports.
func Policies() []string {
	return []string{"3sigma", "3sigma-nodist", "3sigma-nooe", "3sigma-noadapt", "point-perfect", "point-real",
		"prio", "fifo", "edf", "sjf"}
}

// ParsePolicies reads a list of policies, or "all".
func ParsePolicies(list string) ([]string, error) { return parseNames(list, Policies()) }
