"use strict";
// The grid: one stop for the tab key, arrows lead on from there, and a cell opens its panel.
const panel = document.getElementById("panel");
const choose = impl => {
  for (const part of panel.querySelectorAll("section[data-impl]")) part.hidden = part.dataset.impl !== impl;
  for (const button of panel.querySelectorAll(".rounds button")) {
    button.setAttribute("aria-pressed", button.dataset.impl === impl);
    button.nextElementSibling.classList.toggle("chosen", button.dataset.impl === impl);
  }
};
for (const grid of document.querySelectorAll("[role=grid]")) {
  const lines = [...grid.querySelectorAll("tr[data-panel]")].map(line => [...line.querySelectorAll("button")]);
  let stop = lines[0]?.[0];
  const move = button => {
    stop.tabIndex = -1;
    (stop = button).tabIndex = 0;
  };
  if (stop) move(stop);
  grid.addEventListener("focusin", event => event.target.matches("button") && move(event.target));
  grid.addEventListener("click", event => {
    const button = event.target.closest("button");
    if (!button) return;
    button.focus();
    panel.querySelector("div").replaceChildren(document.getElementById(button.closest("tr").dataset.panel).content.cloneNode(true));
    choose(button.dataset.impl);
    panel.showModal();
    panel.scrollTop = 0;
  });
  grid.addEventListener("keydown", event => {
    const y = lines.findIndex(line => line.includes(event.target));
    if (y < 0) return;
    const x = lines[y].indexOf(event.target);
    const down = n => lines[y + n]?.[Math.min(x, lines[y + n].length - 1)];
    const to = {ArrowLeft: lines[y][x - 1], ArrowRight: lines[y][x + 1], ArrowUp: down(-1), ArrowDown: down(1), Home: lines[y][0],
      End: lines[y].at(-1)}[event.key];
    if (to) {
      event.preventDefault();
      to.focus();
    }
  });
}
panel.addEventListener("click", event => {
  if (event.target === panel || event.target.closest(".close")) panel.close();
  const button = event.target.closest(".rounds button");
  if (button) choose(button.dataset.impl);
});
// Sorting: a click on a head sorts by that column, a second one reverses. What has a value goes before what has none, and
// values of different kinds stay apart.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  for (const row of table.tBodies[0].rows) {
    for (const cell of row.cells) if (cell.cellIndex) cell.dataset.label = heads[cell.cellIndex].textContent;
  }
  heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => {
    const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    heads.forEach(h => h.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", sign < 0 ? "descending" : "ascending");
    const compare = (a, b) => {
      const [x, y] = [a.cells[column], b.cells[column]];
      const valued = ("key" in y.dataset) - ("key" in x.dataset);
      if (valued) return valued;
      if ("key" in x.dataset) {
        return x.dataset.kind.localeCompare(y.dataset.kind, "en") || sign * (x.dataset.key - y.dataset.key);
      }
      return sign * x.textContent.localeCompare(y.textContent, "en", {numeric: true});
    };
    table.tBodies[0].append(...[...table.tBodies[0].rows].sort(compare));
  }));
}
// Filters: all words of the search must occur in a row.
for (const form of document.querySelectorAll("form.filters")) {
  const rows = [...document.getElementById(form.dataset.for).tBodies[0].rows];
  const apply = () => {
    const words = form.text.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every(w => text.includes(w)) ||
        (form.category.value && form.category.value !== row.dataset.category) ||
        (form.impl.value && form.impl.value !== row.dataset.impl);
      shown += row.hidden ? 0 : 1;
    }
    form.querySelector("output").textContent = `${shown} of ${rows.length}`;
  };
  form.addEventListener("input", apply);
  form.addEventListener("submit", event => event.preventDefault());
  apply();
}
// A link to a section opens it.
const unfold = () => location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)))?.closest("details")?.setAttribute("open", "");
addEventListener("hashchange", unfold);
unfold();
// The scheme: the reader's own until the button is used.
document.getElementById("scheme").addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.scheme ? root.dataset.scheme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.scheme = dark ? "light" : "dark";
});
