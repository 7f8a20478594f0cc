// The colours of charts and page, light and dark, and the styles of charts.

package report

import (
	"fmt"
	"strings"

	"github.com/turnloop/turnloop/internal/tournament/record"
)

type recordImpl = record.Impl

// palette gives each contestant, by its place in the run, a colour for light and one for dark backgrounds. They differ in
// lightness as well, for those who do not tell hues apart.
var palette = []struct{ light, dark string }{
	{"#0a58ca", "#6ea8fe"}, // blue
	{"#c2410c", "#fd9a57"}, // orange
	{"#7a3fc4", "#c29bff"}, // purple
	{"#15803d", "#63d48a"}, // green
	{"#525b66", "#aab4c0"}, // grey
	{"#0e7490", "#4cc9e0"}, // teal
	{"#b4236b", "#f58abb"}, // pink
	{"#8a6d00", "#e0c04c"}, // ochre
}

// variables returns the colours as CSS custom properties for one scheme.
func variables(dark bool) string {
	var b strings.Builder
	if dark {
		b.WriteString("--bg:#12161c;--card:#191f27;--fg:#e6eaf0;--soft:#9aa5b4;--line:#2d3642;--stripe:#1f2630;--band:#33425680;")
	} else {
		b.WriteString("--bg:#ffffff;--card:#ffffff;--fg:#1b2430;--soft:#5b6675;--line:#dfe4ea;--stripe:#f5f7f9;--band:#c9d6e680;")
	}
	for i, c := range palette {
		colour := c.light
		if dark {
			colour = c.dark
		}
		fmt.Fprintf(&b, "--c%d:%s;", i, colour)
	}
	return b.String()
}

// chartStyle is the CSS of a chart, apart from the colours.
func chartStyle() string {
	var b strings.Builder
	b.WriteString(`.chart{font:12.5px system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","DejaVu Sans",sans-serif}` +
		`.chart text{fill:var(--fg)}.chart .title{font-size:15.5px;font-weight:600}.chart .muted,.chart .tick{fill:var(--soft);font-size:11.5px}` +
		`.chart .one{fill:var(--fg);font-weight:600}.chart .value{font-weight:600;fill:currentColor;font-variant-numeric:tabular-nums}` +
		`.chart .grid{stroke:var(--line);stroke-width:1}.chart .unit{stroke:var(--fg);stroke-width:1.2}` +
		`.chart .band{fill:var(--band)}.chart .stripe{fill:var(--stripe)}` +
		`.chart .interval{stroke:currentColor;stroke-width:2.2;stroke-linecap:round;opacity:.55}` +
		`.chart .dot{fill:currentColor;stroke:var(--card);stroke-width:1}.chart .hollow{fill:var(--card);stroke:currentColor;stroke-width:1.8}`)
	for i := range palette {
		fmt.Fprintf(&b, ".chart .c%d{color:var(--c%d)}", i, i)
	}
	return b.String()
}

// The widths at which charts are drawn: beside text, and on a phone.
const (
	wide   = 860
	narrow = 380
)

// standalone returns the chart as a file of its own, with a background and colours that follow the reader's scheme.
func (c *chart) standalone() string {
	style := "<style>.chart{" + variables(false) + "}@media(prefers-color-scheme:dark){.chart{" + variables(true) + "}}" +
		chartStyle() + "</style>\n" + `<rect width="100%" height="100%" rx="8" fill="var(--card)"/>` + "\n"
	return strings.Replace(c.draw(wide), "STYLE", style, 1)
}

// inline returns the chart for the page, whose styles it shares, in both widths; the page shows one.
func (c *chart) inline() string {
	at := func(width float64, class string) string {
		s := strings.Replace(c.draw(width), "STYLE", "", 1)
		return strings.Replace(s, `class="chart"`, `class="chart `+class+`"`, 1)
	}
	return at(wide, "wide") + at(narrow, "narrow")
}
