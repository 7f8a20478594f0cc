// Figures for people: three digits, the prefix that fits, the unit.

package stats

import (
	"fmt"
	"math"
	"strings"

	"golang.org/x/perf/benchunit"
)

// nbsp keeps a number and its unit on one line.
const nbsp = "\u00a0"

// Format writes a value of a base unit: 1.7e-08 sec/op is "17.0 ns". What it is per is left to the context.
func Format(value float64, unit string) string {
	name, _, _ := strings.Cut(unit, "/")
	if i := strings.LastIndexByte(name, '-'); i >= 0 { // p99-sec, stack-B
		name = name[i+1:]
	}
	switch {
	case math.IsNaN(value):
		return "–"
	case name != "sec" && name != "B": // a count
		return digits(value)
	case value == 0:
		return "0" + nbsp + symbol(name)
	}
	scale := benchunit.CommonScale([]float64{value}, benchunit.ClassOf(unit))
	if name == "B" && math.Abs(value) < 1024 {
		return digits(value) + nbsp + "B"
	}
	return three(value/scale.Factor) + nbsp + strings.Replace(scale.Prefix, "u", "µ", 1) + symbol(name)
}

// FormatRange writes the half-width of an interval relative to its center, "±2 %".
func FormatRange(i Interval) string {
	switch {
	case !i.OK():
		return ""
	case !i.Bounded():
		return "±∞"
	case i.Center == 0:
		return "±0" + nbsp + "%"
	}
	return fmt.Sprintf("±%s"+nbsp+"%%", percent(math.Max(i.Hi/i.Center-1, 1-i.Lo/i.Center)))
}

// FormatRatio writes a ratio, "0.24×".
func FormatRatio(r float64) string {
	switch {
	case math.IsNaN(r):
		return "–"
	case r >= 100:
		return fmt.Sprintf("%.0f×", r)
	case r >= 10:
		return fmt.Sprintf("%.1f×", r)
	case r < 0.01:
		return fmt.Sprintf("%.2g×", r)
	case r < 0.1:
		return fmt.Sprintf("%.3f×", r)
	}
	return fmt.Sprintf("%.2f×", r)
}

// FormatRatioRange writes the bounds of a ratio, "0.23–0.25".
func FormatRatioRange(i Interval) string {
	if !i.Bounded() {
		return "no interval"
	}
	return strings.TrimSuffix(FormatRatio(i.Lo), "×") + "–" + strings.TrimSuffix(FormatRatio(i.Hi), "×")
}

// FormatPercent writes a share, "3.4 %".
func FormatPercent(share float64) string { return percent(share) + nbsp + "%" }

func percent(share float64) string {
	p := share * 100
	if p >= 10 || p == 0 {
		return fmt.Sprintf("%.0f", p)
	}
	return fmt.Sprintf("%.1f", p)
}

// digits writes whole numbers whole.
func digits(v float64) string {
	if v == math.Trunc(v) {
		return fmt.Sprintf("%.0f", v)
	}
	return three(v)
}

// three writes three digits.
func three(v float64) string {
	switch abs := math.Abs(v); {
	case abs >= 100:
		return fmt.Sprintf("%.0f", v)
	case abs >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

func symbol(name string) string {
	if name == "sec" {
		return "s"
	}
	return name
}
