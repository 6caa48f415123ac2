package pack

// Hinted is the option that the problem's hint gives job j, -1 if it gives none.
func (in *Instance) Hinted(j int) int {
	index, ok := in.P.Hint[in.P.Jobs[j].ID]
	if !ok {
		return -1
	}
	for o := in.JobOpts[j]; o < in.JobOpts[j+1]; o++ {
		if in.Opts[o].Index == index {
			return o
		}
	}
	return -1
}
