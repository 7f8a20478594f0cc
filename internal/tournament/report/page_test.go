package report

// Tests of the page, in a browser if there is one.

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/turnloop/turnloop/internal/tournament/policy"
	"github.com/turnloop/turnloop/internal/tournament/record"
	"github.com/turnloop/turnloop/internal/tournament/recorded"
)

// pages writes the page of a full run, the largest there is.
func pages(t *testing.T) string {
	t.Helper()
	dir := recorded.Run(t, recorded.Full)
	if _, err := Write(dir, "", policy.Bars); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestPages drives the pages in one browser, one test after the other.
func TestPages(t *testing.T) {
	b, dir := chromium(t), pages(t)
	for _, test := range []struct {
		name string
		run  func(t *testing.T, b *browser, dir string)
	}{
		{"FitsEveryScreen", pageFitsEveryScreen}, {"ByKeyboard", pageByKeyboard}, {"ByMouse", pageByMouse}, {"SortsByValue", pageSortsByValue},
		{"Gallery", galleryFitsEveryScreen},
	} {
		t.Run(test.name, func(t *testing.T) {
			defer func(whole *testing.T) { b.t = whole }(b.t)
			b.t = t
			test.run(t, b, dir)
		})
	}
}

const screen = 900 // pixels, as browser.open has it

// The page as readers see it: in all widths and schemes the picture is on the first screen, nothing is wider than the screen, folded
// it is a few screens tall, and it asks the network for nothing.
func pageFitsEveryScreen(t *testing.T, b *browser, dir string) {
	for _, c := range []struct{ width, screens int }{{400, 6}, {800, 4}, {1400, 3}} {
		backgrounds := map[string]string{}
		for _, scheme := range []string{"light", "dark"} {
			name := fmt.Sprintf("%d-%s", c.width, scheme)
			b.open(filepath.Join(dir, PageFile), c.width, scheme)
			backgrounds[scheme] = b.eval("getComputedStyle(document.body).backgroundColor").(string)
			b.picture(name, true)
			if height := b.eval("document.documentElement.scrollHeight").(float64); height > float64(c.screens*screen) {
				t.Errorf("%s: folded, the page is %v pixels tall, more than %d screens", name, height, c.screens)
			}
			for _, part := range []string{"header p", ".scores", "[role=grid] td button"} {
				if bottom := b.eval("document.querySelector(%q).getBoundingClientRect().bottom", part).(float64); bottom <= 0 || bottom > screen {
					t.Errorf("%s: %s ends at %v, not on the first screen", name, part, bottom)
				}
			}
			fits(b, name+", folded")
			for i, far := range b.eval(`(() => { const left = e => e.getBoundingClientRect().left;
				const heads = [...document.querySelectorAll("[role=grid] thead th")].slice(1, -1);
				return heads.map((h, i) => Math.max(...[...document.querySelectorAll("tr[data-panel]")].map(tr => Math.abs(left(h) - left(tr.cells[i + 1])))))
			})()`).([]any) {
				if far.(float64) > 4 {
					t.Errorf("%s: in column %d cells are %v pixels beside their head", name, i, far)
				}
			}
			b.click("[role=grid] tr[data-panel] button")
			b.picture(name+"-panel", false)
			fits(b, name+", a panel")
			if scheme == "light" { // colours have no width
				b.eval("panel.close(); document.querySelectorAll('details').forEach(d => d.open = true)")
				fits(b, name+", unfolded")
			}
			if *screenshots != "" {
				for _, section := range []string{"bars", "figures-by-category", "all-figures"} {
					b.eval("panel.close(); document.getElementById(%q)?.scrollIntoView()", section)
					b.picture(name+"-"+section, false)
				}
			}
			for _, message := range b.consoleErrors() {
				t.Errorf("%s: %s", name, message)
			}
		}
		if backgrounds["light"] == backgrounds["dark"] {
			t.Errorf("%d: light and dark have the same background, %s", c.width, backgrounds["dark"])
		}
	}
	b.eval("panel.close()")
	before := b.eval("getComputedStyle(document.body).backgroundColor")
	b.click("#scheme")
	if after := b.eval("getComputedStyle(document.body).backgroundColor"); after == before {
		t.Errorf("the button for the scheme leaves the background at %v", after)
	}
}

// fits fails if anything that is shown is wider than its place: the page, a table, or a word in a cell of the grid.
func fits(b *browser, name string) {
	b.t.Helper()
	wide := b.eval(`(() => {
		const out = [];
		const room = document.documentElement.clientWidth;
		if (document.documentElement.scrollWidth > room) out.push("the page: " + document.documentElement.scrollWidth);
		for (const e of document.querySelectorAll("body *")) {
			const r = e.getBoundingClientRect();
			if (!r.width || e.closest("svg")) continue;
			const what = e.tagName + "." + e.className + " " + e.textContent.slice(0, 40);
			if (r.right > room + 1 || r.left < -1) out.push(what + ": " + r.left + " to " + r.right);
			else if (e.matches(".scroll, dialog, [role=grid] button, [role=grid] th, .rounds button") && e.scrollWidth > e.clientWidth + 1)
				out.push(what + ": " + e.scrollWidth + " in " + e.clientWidth);
		}
		return out.slice(0, 5);
	})()`).([]any)
	for _, w := range wide {
		b.t.Errorf("%s: too wide: %v", name, w)
	}
}

// By keyboard alone: one stop for the grid, arrows within it, Enter opens a cell, Escape leads back to it.
func pageByKeyboard(t *testing.T, b *browser, dir string) {
	b.open(filepath.Join(dir, PageFile), 1400, "light")
	const inGrid = "!!document.activeElement.closest('[role=grid]')"
	for i := 0; !b.eval(inGrid).(bool); i++ {
		if i == 5 {
			t.Fatal("five tabs do not lead to the grid")
		}
		b.press("Tab", 9)
	}
	at := func() string {
		return b.eval(`(() => { const e = document.activeElement, tr = e.closest("tr[data-panel]");
			return tr ? tr.dataset.panel + " " + [...tr.querySelectorAll("button")].indexOf(e) : e.tagName })()`).(string)
	}
	for _, c := range []struct {
		key  string
		code int
		want string
	}{
		{"", 0, "c0 0"}, {"ArrowLeft", 37, "c0 0"}, {"ArrowRight", 39, "c0 1"}, {"ArrowDown", 40, "c1 1"}, {"ArrowRight", 39, "c1 2"},
		{"ArrowUp", 38, "c0 2"}, {"ArrowUp", 38, "c0 2"}, {"Home", 36, "c0 0"}, {"ArrowRight", 39, "c0 1"},
	} {
		if c.key != "" {
			b.press(c.key, c.code)
		}
		if got := at(); got != c.want {
			t.Errorf("after %q the focus is at %s, want %s", c.key, got, c.want)
		}
	}
	impl := b.eval("document.activeElement.dataset.impl").(string)
	b.press("Enter", 13)
	if !b.eval("panel.open").(bool) {
		t.Fatal("Enter does not open the cell")
	}
	opened(b, impl)
	b.press("Escape", 27)
	if b.eval("panel.open").(bool) {
		t.Error("Escape does not close the panel")
	}
	if got := at(); got != "c0 1" {
		t.Errorf("after Escape the focus is at %s, want the cell again", got)
	}
	b.press("Tab", 9)
	if b.eval(inGrid).(bool) {
		t.Error("one more tab does not leave the grid")
	}
}

// opened fails unless the panel shows what belongs to a contestant's cell: what is said, its rounds, its interval, why, and the command.
func opened(b *browser, impl string) {
	b.t.Helper()
	seen := b.eval(`(() => { const shown = [...panel.querySelectorAll("section")].filter(e => e.checkVisibility());
		const chosen = panel.querySelector(".rounds [aria-pressed=true]"), track = chosen?.nextElementSibling;
		return [shown.map(e => e.dataset.impl).join(), shown.map(e => e.innerText).join("\n"), chosen?.dataset.impl ?? "",
			track?.querySelectorAll("i").length ?? 0, track?.querySelectorAll("b").length ?? 0, panel.innerText] })()`).([]any)
	if want := impl + "," + impl; seen[0] != want {
		b.t.Errorf("the panel shows what is said of %v, want %s", seen[0], want)
	}
	if text := seen[1].(string); !strings.Contains(text, "-filter='^Benchmark") || !strings.Contains(text, "rounds") {
		b.t.Errorf("the panel of %s lacks its command or its rounds:\n%s", impl, text)
	}
	if seen[2] != impl || seen[3].(float64) < 8 || seen[4] != 1.0 {
		b.t.Errorf("the panel of %s draws %v dots and %v intervals of %v", impl, seen[3], seen[4], seen[2])
	}
	if !strings.Contains(seen[5].(string), "Why: ") {
		b.t.Errorf("the panel of %s does not say why it is measured", impl)
	}
}

// With a mouse: any cell opens to its own panel, which leads on to the other contestants', and a click beside it closes it.
func pageByMouse(t *testing.T, b *browser, dir string) {
	b.open(filepath.Join(dir, PageFile), 800, "dark")
	cell := `tr[data-panel=c1] [data-impl=baseline]`
	b.click(cell)
	opened(b, "baseline")
	b.click(`.rounds [data-impl=main]`)
	opened(b, "main")
	b.click(".close")
	if b.eval("panel.open").(bool) {
		t.Error("the button does not close the panel")
	}
	b.eval("panel.close()")
	// Every cell has something of its own to open to.
	result := b.eval(`(() => { const cells = [...document.querySelectorAll("[role=grid] td button")];
		panel.showModal = () => {}; // it takes long, and what it does is seen above
		const empty = cells.filter(e => { e.click();
			const said = [...panel.querySelectorAll("section:not([hidden])")];
			panel.close();
			return !said.some(s => s.textContent) || said.some(s => s.dataset.impl !== e.dataset.impl) });
		return [cells.length, empty.map(e => e.ariaLabel).join("; ")] })()`).([]any)
	if result[0].(float64) < 20 || result[1] != "" {
		t.Errorf("of %v cells these open to nothing of their own: %v", result[0], result[1])
	}
}

// Columns sort by value, whatever the unit and however an interval is written.
func pageSortsByValue(t *testing.T, b *browser, dir string) {
	b.open(filepath.Join(dir, PageFile), 1400, "light")
	columns := 0
	for table := range int(b.eval("document.querySelectorAll('table.sortable').length").(float64)) {
		for column := range int(b.eval("document.querySelectorAll('table.sortable')[%d].tHead.rows[0].cells.length", table).(float64)) {
			for _, descending := range []bool{false, true} {
				texts := b.eval(`(() => { const t = document.querySelectorAll("table.sortable")[%d], h = t.tHead.rows[0].cells[%d];
					h.querySelector("button").click();
					return [h.textContent, h.getAttribute("aria-sort"), ...[...t.tBodies[0].rows].map(r => r.cells[%d]).map(c => c.textContent + "\t" + (c.dataset.kind ?? ""))] })()`, table, column, column).([]any)
				if want := map[bool]string{false: "ascending", true: "descending"}[descending]; texts[1] != want {
					t.Errorf("column %v is sorted %v, want %s", texts[0], texts[1], want)
				}
				if inOrder(t, texts[0].(string), texts[2:], descending) {
					columns++
				}
			}
		}
	}
	if columns < 20 {
		t.Errorf("only %d columns of figures", columns)
	}
	b.eval(`(() => { const f = document.querySelector("form.filters"); f.text.value = "submit baseline"; f.dispatchEvent(new Event("input")) })()`)
	b.eval("document.getElementById('all-figures').open = true")
	rows := b.eval(`[...document.querySelectorAll("#explorer tbody tr")].filter(r => r.checkVisibility()).map(r => r.innerText)`).([]any)
	if len(rows) == 0 || slices.ContainsFunc(rows, func(r any) bool { return !strings.Contains(strings.ToLower(r.(string)), "submit") }) {
		t.Errorf("the filter leaves %q", rows)
	}
}

// inOrder checks the texts of a column of figures, as they are read: those of a kind in a row, and by value. It returns whether it was
// one.
func inOrder(t *testing.T, head string, cells []any, descending bool) bool {
	t.Helper()
	if slices.Contains([]string{"benchmark", "check", "requirement", "what", "value", "bar", "result", "unit"}, head) {
		return false
	}
	last := map[string]float64{}
	kind, figures := "", 0
	for _, c := range cells {
		text, is, _ := strings.Cut(strings.TrimSpace(c.(string)), "\t")
		figure := figureIn(text)
		if ratio, value, ok := strings.Cut(text, "× "); ok && !strings.Contains(ratio, " ") && !strings.HasPrefix(value, "(") {
			figure = figureIn(value) // a ratio before the figure, which is what counts
		}
		if !figure.by || strings.Contains(text, " of ") {
			continue
		}
		before, ok := last[is]
		switch {
		case is != kind && ok:
			t.Errorf("column %s mixes units: %q", head, cells)
			return true
		case ok && (!descending && figure.key < before*0.995 || descending && figure.key > before*1.005): // as far as they are rounded
			t.Errorf("column %s is not in order at %s: %q", head, text, cells)
			return true
		}
		last[is], kind = figure.key, is
		figures++
	}
	return figures > 0
}

// A gallery shows each run with its own panels, and fits every screen too.
func galleryFitsEveryScreen(t *testing.T, b *browser, dir string) {
	other := filepath.Join(filepath.Dir(dir), "other")
	if err := os.CopyFS(other, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	run, err := record.Load(other)
	if err != nil {
		t.Fatal(err)
	}
	run.Name, run.Source.Commit = "other", "fedcba"
	if err := record.Save(other, run); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(filepath.Dir(dir), "gallery.html")
	if err := WriteGallery(path, []string{dir, other}); err != nil {
		t.Fatal(err)
	}
	for _, width := range []int{400, 800, 1400} {
		for _, scheme := range []string{"light", "dark"} {
			b.open(path, width, scheme)
			b.picture(fmt.Sprintf("gallery-%d-%s", width, scheme), true)
			fits(b, fmt.Sprintf("gallery, %d", width))
			b.click(`tr[data-panel=r1-0] [data-impl=main]`)
			opened(b, "main")
			if text := b.eval("panel.innerText").(string); !strings.Contains(text, "git checkout fedcba") {
				t.Errorf("the panel of the second run has not its command:\n%s", text)
			}
			for _, message := range b.consoleErrors() {
				t.Error(message)
			}
		}
	}
	if n := b.eval("document.querySelectorAll('[role=grid]').length").(float64); n != 2 {
		t.Errorf("%v grids, want one for each run", n)
	}
}
