package bench

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hedgesched/hedge/solver"
)

// Range is how many pending jobs problems may have, both ends included. The zero value is any number.
type Range struct{ Least, Most int }

// ParseRange reads "5-30".
func ParseRange(text string) (Range, error) {
	from, to, _ := strings.Cut(text, "-")
	least, err := strconv.Atoi(from)
	most, err2 := strconv.Atoi(to)
	switch {
	case err != nil || err2 != nil || least < 0:
		return Range{}, fmt.Errorf("found %q, expected the least and the largest number of pending jobs, such as 5-30", text)
	case most < least:
		return Range{}, fmt.Errorf("found %q, expected the smaller number first, such as 5-30", text)
	case most == 0:
		return Range{}, fmt.Errorf("found %q, expected a largest number of at least 1, such as 5-30", text)
	}
	return Range{least, most}, nil
}

// Choose are the problems among files whose numbers of pending jobs are in the range; of more than most of them, that
// many which are spread evenly over the files' order. Most 0 is all. It reads every file, so that one that holds no
// problem is an error before any work is done.
func Choose(files []string, r Range, most int) ([]string, error) {
	var fit []string
	for _, path := range files {
		p, err := solver.ReadProblemFile(path)
		if err != nil {
			return nil, err
		}
		if n := len(p.Jobs); r == (Range{}) || n >= r.Least && n <= r.Most {
			fit = append(fit, path)
		}
	}
	if most <= 0 || len(fit) <= most {
		return fit, nil
	}
	spread := make([]string, most)
	for i := range spread {
		spread[i] = fit[i*len(fit)/most]
	}
	return spread, nil
}
