package report

// Tests of the page in a browser, if there is one.

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/turnloop/turnloop/internal/tournament/recorded"
)

const screen = 900 // pixels, as browser.open has it

// TestPages: in each width and scheme the verdict and the first rows are on the first screen, nothing is wider than its place, cells open
// and close by mouse and keyboard, and the page asks the network for nothing.
func TestPages(t *testing.T) {
	b := chromium(t)
	dir := written(t, recorded.Rows(t, recorded.Container), nil)
	overview := filepath.Join(filepath.Dir(dir), PageFile)
	if err := WriteGallery(overview, []string{dir, dir}); err != nil {
		t.Fatal(err)
	}
	for _, width := range []int{400, 1280} {
		backgrounds := map[any]bool{}
		for _, scheme := range []string{"light", "dark"} {
			name := fmt.Sprintf("%d-%s", width, scheme)
			b.open(overview, width, scheme)
			b.picture("overview-"+name, true)
			fits(b, name+", the overview")
			b.open(filepath.Join(dir, PageFile), width, scheme)
			b.picture("page-"+name, true)
			fits(b, name)
			backgrounds[b.eval("getComputedStyle(document.body).backgroundColor")] = true
			for _, part := range []string{"h1", "tbody tr", "td.plot span"} {
				if bottom := b.eval("document.querySelector(%q).getBoundingClientRect().bottom", part).(float64); bottom <= 0 || bottom > screen {
					t.Errorf("%s: %s ends at %v, not on the first screen", name, part, bottom)
				}
			}
			if right := b.eval("document.querySelector('td.plot span').getBoundingClientRect().right").(float64); right > float64(width) {
				t.Errorf("%s: the best other loop ends at %v, beside the screen", name, right)
			}
			if faint := b.eval(contrast).(string); faint != "" {
				t.Errorf("%s: too faint: %s", name, faint)
			}
			b.click("button[data-cell]")
			b.picture("opened-"+name, false)
			fits(b, name+", opened")
			if got := b.eval("document.querySelectorAll('.rounds circle').length").(float64); got != 10 {
				t.Errorf("%s: the cell of the subject opens to %v rounds, want 10", name, got)
			}
			b.eval("document.querySelectorAll('button[data-cell]')[1].focus()")
			b.press("Enter", 13)
			if got := b.eval("document.querySelectorAll('.rounds circle').length").(float64); got != 20 {
				t.Errorf("%s: another loop's cell opens to %v rounds, want 10 and those of the subject", name, got)
			}
			b.press("Escape", 27)
			if open := b.eval("document.querySelectorAll('.rounds').length + (document.activeElement.dataset.cell ? 0 : 1)").(float64); open != 0 {
				t.Errorf("%s: Escape does not close the cell and lead back to it", name)
			}
			for _, message := range b.consoleErrors() {
				t.Errorf("%s: %s", name, message)
			}
		}
		if len(backgrounds) != 2 {
			t.Errorf("%d: light and dark have the same background", width)
		}
	}
}

// contrast finds a text with less than 4.5 to its background, as WCAG counts it.
const contrast = `(() => {
	const rgb = s => s.match(/[\d.]+/g).map(Number);
	const light = c => { const [r, g, b] = c.map(v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b };
	const back = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0) return c.slice(0, 3) } return [255, 255, 255] };
	for (const e of document.querySelectorAll("p, h1, h2, th, td button, td i, td span, li, tfoot td")) {
		if (e.closest("svg") || !e.textContent.trim()) continue;
		const a = light(rgb(getComputedStyle(e).color).slice(0, 3)), b = light(back(e));
		const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		if (ratio < 4.5) return e.tagName + "." + e.className + " " + e.textContent.slice(0, 30) + " " + ratio.toFixed(2);
	}
	return "";
})()`

// fits fails if anything that is shown is wider than its place. Tables scroll.
func fits(b *browser, name string) {
	b.t.Helper()
	for _, w := range b.eval(`(() => {
		const out = [], room = document.documentElement.clientWidth;
		if (document.documentElement.scrollWidth > room) out.push("the page: " + document.documentElement.scrollWidth);
		for (const e of document.querySelectorAll("body *")) {
			const r = e.getBoundingClientRect();
			if (!r.width || e.closest("svg") || e.closest("table") && !e.closest(".rounds")) continue;
			if (r.right > room + 1 || r.left < -1) out.push(e.tagName + "." + e.className + " " + e.textContent.slice(0, 40) + ": " + r.left + " to " + r.right);
		}
		return out.slice(0, 5);
	})()`).([]any) {
		b.t.Errorf("%s: too wide: %v", name, w)
	}
}
