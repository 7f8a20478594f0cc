package report

// Tests of the page in a browser, if there is one.

import (
	"encoding/json"
	"flag"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/turnloop/turnloop/internal/tournament/recorded"
)

var screenshots = flag.String("screenshots", "", "`folder` for pictures of the pages that the browser test has seen")

// TestPages: in each width and scheme the verdict and the first rows are on the first screen, nothing is wider than its place, cells open
// and close, and the page asks the network for nothing. The browser shows each page in frames of those widths, with a script that looks.
func TestPages(t *testing.T) {
	browser := chromium(t)
	dir := written(t, recorded.Rows(t, recorded.Container), nil)
	overview := filepath.Join(filepath.Dir(dir), PageFile)
	if err := WriteGallery(overview, []string{dir, dir}); err != nil {
		t.Fatal(err)
	}
	pages := map[string]string{"overview": overview, "page": filepath.Join(dir, PageFile)}
	backgrounds := map[string]bool{}
	for scheme, flag := range map[string]string{"light": "1", "dark": "0"} {
		frames := ""
		for name, path := range pages {
			for _, width := range []int{400, 1280} {
				text := strings.Replace(read(t, path), "<head>", "", 1)
				frames += fmt.Sprintf(`<iframe title="%s-%d-%s" width="%[2]d" height="%[4]d" srcdoc="%[5]s"></iframe>`, name, width, scheme, screen,
					html.EscapeString("<!doctype html><script>"+errorsOf+"</script>"+text+"<script>"+look+"</script>"))
			}
		}
		wrapper := filepath.Join(t.TempDir(), "frames.html")
		if err := os.WriteFile(wrapper, []byte("<!doctype html><meta charset=\"utf-8\"><div id=\"seen\">\n</div>"+frames), 0o644); err != nil {
			t.Fatal(err)
		}
		args := []string{"--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--window-size=1400,4000",
			"--blink-settings=preferredColorScheme=" + flag, "--user-data-dir=" + t.TempDir(), "--dump-dom"}
		if *screenshots != "" {
			args = append(args, "--screenshot="+filepath.Join(*screenshots, scheme+".png"))
		}
		out, err := exec.CommandContext(t.Context(), browser, append(args, "file://"+filepath.ToSlash(wrapper))...).Output()
		if err != nil {
			t.Fatalf("%s: %v", browser, err)
		}
		all := regexp.MustCompile(`(?m)^\{.*\}$`).FindAllString(html.UnescapeString(string(out)), -1)
		if len(all) != 2*len(pages) {
			t.Fatalf("%d of %d frames have been looked at: %.2000s", len(all), 2*len(pages), out)
		}
		for _, line := range all {
			var seen struct {
				Name, Background string
				Wrong            []string
			}
			if err := json.Unmarshal([]byte(line), &seen); err != nil {
				t.Fatal(err)
			}
			backgrounds[seen.Background] = true
			for _, wrong := range seen.Wrong {
				t.Errorf("%s: %s", seen.Name, wrong)
			}
		}
	}
	if len(backgrounds) != 2 {
		t.Errorf("the schemes have the backgrounds %v", backgrounds)
	}
}

// chromium returns a browser. Where there is none the test is skipped, or fails if TURNLOOP_BROWSER is set.
func chromium(t *testing.T) string {
	for _, name := range []string{"chromium", "google-chrome", "chromium-browser"} {
		if found, err := exec.LookPath(name); err == nil {
			return found
		}
	}
	if os.Getenv("TURNLOOP_BROWSER") != "" {
		t.Fatal("there is no chromium in PATH")
	}
	t.Skip("no chromium in PATH to show the page (Debian: apt-get install chromium)")
	return ""
}

const screen = 900 // pixels, the height of a frame

// errorsOf collects what a page throws or logs.
const errorsOf = `const wrong = []; addEventListener("error", e => wrong.push(e.message)); console.error = s => wrong.push(s);`

// look is the script in each frame. It tells in a line of the document around the frames what is wrong.
const look = `addEventListener("load", () => {
	const frame = window.frameElement, $ = (s, i = 0) => document.querySelectorAll(s)[i];
	const says = (wrong_, what) => { if (wrong_) wrong.push(what) };
	const rgb = s => s.match(/[\d.]+/g).map(Number);
	const light = c => { const [r, g, b] = c.map(v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b };
	const back = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0) return c.slice(0, 3) } return [255, 255, 255] };
	// Anything that is shown and wider than its place. Tables scroll.
	const fits = when => {
		const room = document.documentElement.clientWidth;
		says(document.documentElement.scrollWidth > room, when + " the page is wider than the screen: " + document.documentElement.scrollWidth);
		for (const e of document.querySelectorAll("body *")) {
			const r = e.getBoundingClientRect();
			if (!r.width || e.closest("svg") || e.closest("table") && !e.closest(".rounds")) continue;
			says(r.right > room + 1 || r.left < -1, when + " too wide: " + e.tagName + "." + e.className + " " + e.textContent.slice(0, 40));
		}
	};
	fits("at first");
	if (frame.title.startsWith("page")) {
		for (const part of ["h1", "tbody tr", "td.plot span"]) {
			const bottom = $(part).getBoundingClientRect().bottom;
			says(bottom <= 0 || bottom > frame.height, part + " ends at " + bottom + ", not on the first screen");
		}
		says($("td.plot span").getBoundingClientRect().right > frame.width, "the best other loop ends beside the screen");
		for (const e of document.querySelectorAll("p, h1, h2, th, td button, td i, td span, li, tfoot td")) {
			if (e.closest("svg") || !e.textContent.trim()) continue;
			const a = light(rgb(getComputedStyle(e).color).slice(0, 3)), b = light(back(e));
			const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05); // at least 4.5, as WCAG counts it
			says(contrast < 4.5, "too faint: " + e.tagName + "." + e.className + " " + e.textContent.slice(0, 30) + " " + contrast.toFixed(2));
		}
		$("button[data-cell]").click();
		fits("opened,");
		says(document.querySelectorAll(".rounds circle").length != 10, "the cell of the subject does not open to 10 rounds");
		$("button[data-cell]", 1).click();
		says(document.querySelectorAll(".rounds circle").length != 20, "another loop's cell does not open to 10 rounds and those of the subject");
		document.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }));
		says($(".rounds") || !document.activeElement.dataset.cell, "Escape does not close the cell and lead back to it");
	}
	for (const e of performance.getEntriesByType("resource")) wrong.push("asks for " + e.name);
	const seen = { name: frame.title, background: getComputedStyle(document.body).backgroundColor, wrong };
	parent.document.getElementById("seen").textContent += JSON.stringify(seen) + "\n";
});`
