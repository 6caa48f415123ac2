package trace

import (
	"bytes"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// text is what numbers are parsed from.
type text interface{ ~string | ~[]byte }

// maxSeconds bounds every time in a log, so that a submission, a wait and a
// runtime can be added without overflow of time.Duration. It is 95 years.
const maxSeconds = 3_000_000_000

const (
	billion   = 1_000_000_000
	maxNanos  = maxSeconds * billion
	wantTime  = "seconds from 0 to 3e9"
	wantLimit = "seconds from 0, or unlimited"
	wantCount = "a whole number from 1 to 2147483647"
)

// decimal parses a number exactly to billionths, rounding what is finer. It
// reports false for what is no finite number and for |n| > maxSeconds.
func decimal[T text](s T) (int64, bool) {
	i, negative := 0, false
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		negative = s[0] == '-'
		i = 1
	}
	var whole int64
	digits := 0
	for ; i < len(s) && s[i]-'0' <= 9; i++ {
		whole = whole*10 + int64(s[i]-'0')
		if whole > maxSeconds {
			return 0, false
		}
		digits++
	}
	var frac int64
	if i < len(s) && s[i] == '.' {
		i++
		scale := int64(billion)
		for ; i < len(s) && s[i]-'0' <= 9; i++ {
			digits++
			switch {
			case scale > 1:
				scale /= 10
				frac += int64(s[i]-'0') * scale
			case scale == 1:
				scale = 0
				if s[i] >= '5' {
					frac++
				}
			}
		}
	}
	if digits == 0 {
		return 0, false
	}
	if i < len(s) {
		return exponential(s, i)
	}
	n := whole*billion + frac
	if n > maxNanos {
		return 0, false
	}
	if negative {
		n = -n
	}
	return n, true
}

// exponential parses a number whose digits end at i where an exponent must begin.
func exponential[T text](s T, i int) (int64, bool) {
	if s[i] != 'e' && s[i] != 'E' || len(s) > 64 {
		return 0, false
	}
	for _, c := range string(s[i+1:]) {
		if c != '+' && c != '-' && (c < '0' || c > '9') {
			return 0, false
		}
	}
	f, err := strconv.ParseFloat(string(s), 64)
	if err != nil || math.IsNaN(f) || math.Abs(f) > maxSeconds {
		return 0, false
	}
	return int64(math.Round(f * billion)), true
}

// whole parses a whole number however it is written: as 12, or as 12.0 or 1.2e1 by programs that know floating-point
// numbers alone. It has 18 digits at most in the first form and is at most 3e9 in the others.
func whole[T text](s T) (int64, bool) {
	if n, ok := integer(s); ok {
		return n, true
	}
	n, ok := decimal(s)
	return n / billion, ok && n%billion == 0
}

// plain is a number that names something, such as a user, as it would be without ".0"; other texts stay.
func plain(b []byte) []byte {
	if i := bytes.IndexByte(b, '.'); i > 0 && len(bytes.Trim(b[i+1:], "0")) == 0 {
		if _, ok := integer(b[:i]); ok {
			return b[:i]
		}
	}
	return b
}

// limit parses a user's limit of the runtime. What no job reaches is no limit: 0, as where a log does not say. Some
// systems write UNLIMITED, others the largest number that they know.
func limit[T text](s T) (time.Duration, bool) {
	if d, ok := duration(s); ok {
		return d, true
	}
	switch strings.ToLower(string(s[:min(len(s), maxFound)])) {
	case "unlimited", "infinite":
		return 0, true
	}
	if len(s) > maxFound {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(s), 64)
	return 0, (err == nil || errors.Is(err, strconv.ErrRange)) && f > maxSeconds
}

// integer parses a whole number of at most 18 digits; "12.0" is no whole number.
func integer[T text](s T) (int64, bool) {
	i, negative := 0, false
	if len(s) > 0 && s[0] == '-' {
		i, negative = 1, true
	}
	if i == len(s) || len(s)-i > 18 {
		return 0, false
	}
	var n int64
	for ; i < len(s); i++ {
		d := s[i] - '0'
		if d > 9 {
			return 0, false
		}
		n = n*10 + int64(d)
	}
	if negative {
		n = -n
	}
	return n, true
}

// maxDemand bounds what a task holds, in any unit, so that sums and squares of demands are finite. A job's memory in
// bytes is below 1e19 even where a system writes its largest number for all there is.
const (
	maxDemand  = 1e30
	wantDemand = "a number from 0 to 1e30"
)

// demand parses what a task holds, such as a share of a machine.
func demand[T text](s T) (float64, bool) {
	f, ok := amount(s)
	return f, ok && f <= maxDemand
}

// amount parses a finite number that is not negative.
func amount[T text](s T) (float64, bool) {
	if len(s) > 64 {
		return 0, false
	}
	f, ok := number(s)
	return f, ok && f >= 0
}

// number parses a finite number as logs have it: not in Go's hexadecimal, nor with underscores between the digits.
func number[T text](s T) (float64, bool) {
	if strings.ContainsAny(string(s), "_xX") {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(s), 64)
	return f, err == nil && !math.IsNaN(f) && !math.IsInf(f, 0)
}

// count parses a number of tasks.
func count[T text](s T) (int, bool) {
	n, ok := whole(s)
	if !ok || n < 1 || n > math.MaxInt32 {
		return 0, false
	}
	return int(n), true
}

// duration parses seconds that are not negative.
func duration[T text](s T) (time.Duration, bool) {
	n, ok := decimal(s)
	return time.Duration(n), ok && n >= 0
}
