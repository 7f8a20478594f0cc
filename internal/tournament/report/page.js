(() => {
	const { cells, subject } = JSON.parse(document.getElementById("cells").textContent);
	let open = null;
	const close = () => {
		if (!open) return;
		open.row.remove();
		open.button.setAttribute("aria-expanded", "false");
		open = null;
	};
	const element = (name, attributes, text) => {
		const e = document.createElementNS("http://www.w3.org/2000/svg", name);
		for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
		if (text) e.textContent = text;
		return e;
	};
	// The rounds of a loop above those of the subject, on one scale of logarithms; lines join what ran in the same round.
	const drawing = (mine, other) => {
		const all = [...mine, ...(other || [])].filter(v => v > 0);
		const low = Math.log(Math.min(...all) * 0.98), high = Math.log(Math.max(...all) * 1.02);
		const wide = Math.min(720, document.documentElement.clientWidth - 40);
		const at = v => 60 + (wide - 76) * (Math.log(v) - low) / (high - low || 1);
		const svg = element("svg", { viewBox: `0 0 ${wide} ${other ? 84 : 44}`, role: "img" });
		const strip = (values, y, kind, label) => {
			const g = element("g", { class: kind });
			g.append(element("text", { x: 0, y: y + 4 }, label));
			values.forEach((v, i) => {
				if (!(v > 0)) return;
				const dot = element("circle", { cx: at(v).toFixed(1), cy: y, r: 3.5 });
				dot.append(element("title", {}, `round ${i + 1}: ${v}`));
				g.append(dot);
			});
			svg.append(g);
		};
		if (other) mine.forEach((v, i) => {
			if (v > 0 && other[i] > 0) svg.append(element("line", { x1: at(v).toFixed(1), y1: 14, x2: at(other[i]).toFixed(1), y2: 54 }));
		});
		strip(mine, 14, "own", "this");
		if (other) strip(other, 54, "", subject);
		const y = other ? 80 : 40;
		svg.append(element("text", { x: 60, y }, String(Math.min(...all))));
		svg.append(element("text", { x: wide - 16, y, "text-anchor": "end" }, String(Math.max(...all))));
		return svg;
	};
	document.getElementById("grid").addEventListener("click", event => {
		const button = event.target.closest("button[data-cell]");
		if (!button) return;
		const again = open && open.button === button;
		close();
		if (again) return;
		const cell = cells[button.dataset.cell];
		const [figure, loop] = button.dataset.cell.split(" ");
		const row = document.createElement("tr"), td = document.createElement("td"), box = document.createElement("div");
		row.className = "open-row";
		td.colSpan = button.closest("tr").children.length;
		box.className = "rounds";
		const says = document.createElement("p"), command = document.createElement("code");
		says.textContent = cell.says;
		command.textContent = cell.command;
		box.append(says, drawing(cell.rounds, loop === subject ? null : (cells[figure + " " + subject] || {}).rounds), command);
		td.append(box);
		row.append(td);
		button.closest("tr").after(row);
		button.setAttribute("aria-expanded", "true");
		open = { row, button };
	});
	document.addEventListener("keydown", event => {
		if (event.key !== "Escape" || !open) return;
		const { button } = open;
		close();
		button.focus();
	});
})();
