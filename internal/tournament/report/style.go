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

// A shade is the colours of one step of the scale of ratios: of the background and of the figure on it.
type shade struct{ back, text string }

// shades are the steps from the best, in blue, to the worst, in orange. Nobody takes these two for each other, and both ends
// stand out from the background in both schemes.
var shades = []struct{ light, dark shade }{
	{shade{"#0b5cab", "#ffffff"}, shade{"#5aa5f2", "#06101c"}},
	{shade{"#86b6e3", "#0d1c2c"}, shade{"#2b6299", "#f2f8ff"}},
	{shade{"#d3e3f2", "#14212e"}, shade{"#27405a", "#e3eefa"}},
	{shade{"#fbe9c8", "#2b2010"}, shade{"#4d4128", "#f8ecd4"}},
	{shade{"#f6bf6b", "#2a1a05"}, shade{"#7d5a1c", "#fff4e0"}},
	{shade{"#dd8122", "#1c0f02"}, shade{"#bd7c24", "#140c02"}},
	{shade{"#94400a", "#ffffff"}, shade{"#ffb65c", "#1c1003"}},
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
	for i, s := range shades {
		colours := s.light
		if dark {
			colours = s.dark
		}
		fmt.Fprintf(&b, "--s%d:%s;--t%d:%s;", i, colours.back, i, colours.text)
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
		`.chart .dot{fill:currentColor;stroke:var(--card);stroke-width:1}.chart .hollow{fill:var(--card);stroke:currentColor;stroke-width:1.8}` +
		`.chart .bar{fill:currentColor;opacity:.8}.chart .pale{opacity:.35}.chart .whisker{stroke:var(--fg);stroke-width:1.6}` +
		`.chart .tile{font-size:11.5px;font-variant-numeric:tabular-nums}.chart .none{fill:var(--soft)}.chart .first{font-weight:700}`)
	for i := range palette {
		fmt.Fprintf(&b, ".chart .c%d{color:var(--c%d)}", i, i)
	}
	for i := range shades {
		fmt.Fprintf(&b, ".chart .s%d{fill:var(--s%d)}.chart .t%d{fill:var(--t%d)}", i, i, i, i)
	}
	return b.String()
}

// shadeStyle is the CSS of the scale outside of charts.
func shadeStyle() string {
	var b strings.Builder
	for i := range shades {
		fmt.Fprintf(&b, ".s%d{background:var(--s%d);color:var(--t%d)}", i, i, i)
	}
	for i := range palette {
		fmt.Fprintf(&b, ".track.c%d{color:var(--c%d)}", i, i)
	}
	return b.String()
}

// listed is the CSS that makes a list of each row of the tables of a class, on screens up to a width: no column is ever cut.
func listed(width int, class string) string {
	return strings.ReplaceAll(fmt.Sprintf("@media(max-width:%dpx){", width)+
		"T,T :is(tbody,tr,th,td){display:block}"+
		"T thead,T thead tr{display:flex;flex-wrap:wrap}"+
		"T tbody tr{display:flex;flex-wrap:wrap;padding:6px 0;border-bottom:1px solid var(--line)}"+
		".scroll T :is(th,td){border:0;text-align:left;max-width:none;padding:2px 9px;background:none!important;overflow-wrap:anywhere;min-width:0}"+
		"T tbody th{font-weight:600;flex:0 0 100%}"+
		`T td::before{content:attr(data-label) " ";color:var(--soft)}`+
		"T td:empty,T tr[hidden]{display:none!important}}\n", "T", class)
}

// The widths of screens below which tables become lists: those with very many columns, with many, and all.
const (
	vastNeeds  = 1800
	broadNeeds = 1100
	tableNeeds = 640
)

// chartWidth is the width at which charts are drawn: beside text.
const chartWidth = 860

// A drawing is a picture in the report, and a file beside it.
type drawing interface {
	name() (file, title string)
	draw(width float64) string // with the word STYLE where styles belong
}

// standalone returns a drawing as a file of its own, with a background and colours that follow the reader's scheme.
func standalone(g drawing) string {
	style := "<style>.chart{" + variables(false) + "}@media(prefers-color-scheme:dark){.chart{" + variables(true) + "}}" +
		chartStyle() + "</style>\n" + `<rect width="100%" height="100%" rx="8" fill="var(--card)"/>` + "\n"
	return strings.Replace(g.draw(chartWidth), "STYLE", style, 1)
}
