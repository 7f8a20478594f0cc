"use strict";
// Sorting: a click on a head sorts by that column, a second one reverses.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => {
    const down = head.getAttribute("aria-sort") === "ascending";
    heads.forEach(h => h.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const value = row => {
      const cell = row.cells[column];
      return "key" in cell.dataset ? Number(cell.dataset.key) : cell.textContent;
    };
    const compare = (a, b) => {
      const x = value(a), y = value(b);
      if (typeof x !== typeof y) return typeof x === "number" ? -1 : 1; // figures before words
      if (typeof x === "number") return (x - y) * (down ? -1 : 1);
      return x.localeCompare(y, "en", {numeric: true}) * (down ? -1 : 1);
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
// The scheme: the reader's own until the button is used.
document.getElementById("scheme").addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.scheme ? root.dataset.scheme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.scheme = dark ? "light" : "dark";
});
