package stats

// Figures for people.

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Format writes a value of a unit with three digits, as in "16.2 ns", "5.3 KiB" or "9.03 B".
func Format(value float64, unit string) string {
	if math.IsNaN(value) {
		return "?"
	}
	per, _, _ := strings.Cut(unit, "/")
	switch {
	case strings.HasSuffix(per, "ns"):
		return scaled(value, 1000, "ns", "µs", "ms", "s")
	case strings.HasSuffix(per, "B"):
		return scaled(value, 1024, "B", "KiB", "MiB", "GiB")
	}
	return Digits(value) + " " + unit
}

func scaled(value, step float64, units ...string) string {
	i := 0
	for ; i < len(units)-1 && value >= 0.9995*step; i++ {
		value /= step
	}
	return Digits(value) + " " + units[i]
}

// Digits writes a number with three digits.
func Digits(value float64) string {
	switch {
	case value >= 99.95:
		return strconv.FormatFloat(value, 'f', 0, 64)
	case value >= 9.995:
		return strconv.FormatFloat(value, 'f', 1, 64)
	}
	return strconv.FormatFloat(value, 'f', 2, 64)
}

// FormatInterval writes the interval of a ratio. Rounding goes outwards where it would hide that the interval contains 1, and inwards
// where it would hide that it does not.
func (v Verdict) FormatInterval() string {
	return apart(v.Low, v.Told) + "–" + apart(v.High, v.Told)
}

// apart writes a bound. That of an interval which excludes 1 is not written as 1.
func apart(bound float64, told bool) string {
	s := Digits(bound)
	if s == "1.00" && told {
		return fmt.Sprintf("%.3f", math.Exp(math.Copysign(max(math.Abs(math.Log(bound)), 0.001), math.Log(bound))))
	}
	return s
}
