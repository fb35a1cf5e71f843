// SPDX-License-Identifier: GPL-2.0-or-later
// The pictures of an HTML report: what seems to leak, boxes for callers, growth, a table of sites.

const BOX_HEIGHT = 18, ROWS = 50, POINTS = 200;
const state = { node: null, metric: 0, find: "", sort: "bytes", up: false, rows: ROWS, site: null };

// ---- What is searched for

const haystacks = functions.map(entry =>
	(nameOf(entry) + "\n" + strings[entry[1]] + "\n" + strings[entry[3]]).toLowerCase());
let hits = new Uint8Array(functions.length);
const isFound = site => !state.find || site.frames.some(frame => hits[frame]);

function search(text) {
	state.find = text.toLowerCase();
	state.rows = ROWS;
	hits = Uint8Array.from(haystacks, hay => state.find && hay.includes(state.find) ? 1 : 0);
	const found = state.find ? sites.filter(isFound) : [];
	const sum = found.reduce((bytes, site) => bytes + site.bytes, 0);
	at("found").textContent = state.find ? number(found.length) + " of " + number(sites.length) +
		" sites, " + size(sum) + (report.bytes ?
		" (" + (100 * sum / report.bytes).toFixed(1) + " %)" : "") : "";
	draw();
	fillTable();
}

// ---- The boxes

const canvas = at("boxes").querySelector("canvas");
let drawn = [];

const ancestors = node => node.parent ? [...ancestors(node.parent), node] : [node];
const sorted = node => [...node.children.values()].sort((a, b) =>
	b.values[state.metric] - a.values[state.metric]);

// Boxes narrower than a pixel are left out, with all below them.
function place(node, x, width, row, into) {
	into.push({ node, x, width, row });
	let left = x;
	for (const child of sorted(node)) {
		const share = width * child.values[state.metric] / node.values[state.metric];
		if (!(share >= 1))
			break;
		place(child, left, share, row + 1, into);
		left += share;
	}
}

const pathOf = site => new Set(site ? ancestors(site.leaf) : []);
const labelOf = node => node.parent ? nameOf(functions[node.frame]) : "all";

function drawBox(context, colours, box) {
	const { node, x, width, row } = box, y = row * BOX_HEIGHT;
	const found = state.find && [...node.frames].some(frame => hits[frame]);
	const share = node.hot[state.metric] / node.values[state.metric] || 0;
	context.globalAlpha = state.find && !found ? 0.35 : 1;
	context.fillStyle = found ? colours.found : colours.cold;
	context.fillRect(x, y, Math.max(width - 1, 0.5), BOX_HEIGHT - 1);
	if (share && !found) {
		context.globalAlpha *= share;
		context.fillStyle = colours.hot;
		context.fillRect(x, y, Math.max(width - 1, 0.5), BOX_HEIGHT - 1);
	}
	context.globalAlpha = 1;
	if (colours.path.has(node))
		context.strokeRect(x + 0.5, y + 0.5, Math.max(width - 2, 1), BOX_HEIGHT - 2);
	const room = Math.floor((width - 8) / colours.letter);
	if (room < 3)
		return;
	const label = labelOf(node);
	context.fillStyle = colours.text;
	context.fillText(label.length > room ? label.slice(0, room - 1) + "\u2026" : label, x + 4,
		y + BOX_HEIGHT - 5);
}

function draw() {
	const width = at("boxes").clientWidth, ratio = window.devicePixelRatio || 1;
	const css = getComputedStyle(document.documentElement);
	const above = ancestors(state.node).slice(0, -1);
	drawn = above.map((node, row) => ({ node, x: 0, width, row }));
	place(state.node, 0, width, above.length, drawn);
	const rows = drawn.reduce((most, box) => Math.max(most, box.row + 1), 1);
	canvas.width = width * ratio;
	canvas.height = rows * BOX_HEIGHT * ratio;
	canvas.style.height = rows * BOX_HEIGHT + "px";
	const context = canvas.getContext("2d");
	context.scale(ratio, ratio);
	context.font = "12px ui-monospace, monospace";
	context.strokeStyle = css.getPropertyValue("--series");
	const colours = { path: pathOf(state.site), letter: context.measureText("m").width,
		text: css.getPropertyValue("--on-box"), cold: css.getPropertyValue("--cold"),
		hot: css.getPropertyValue("--hot"), found: css.getPropertyValue("--found") };
	for (const box of drawn)
		drawBox(context, colours, box);
}

function boxAt(event) {
	const frame = canvas.getBoundingClientRect();
	const x = event.clientX - frame.left, row = Math.floor((event.clientY - frame.top) / BOX_HEIGHT);
	return drawn.find(box => box.row === row && x >= box.x && x < box.x + box.width);
}

function describe(node) {
	const [bytes, count, grown] = node.values;
	const places = [...new Set([...node.frames].map(frame => placeOf(functions[frame])))]
		.filter(place => place);
	return [labelOf(node), places.slice(0, 3).join(", ") + (places.length > 3 ? ", \u2026" : ""),
		node.parent ? moduleOf(functions[node.frame]) : "", "\u2014 " + size(bytes) + " (" +
		number(bytes) + " bytes) in " + blocks(count) + (report.bytes ? ", " +
		(100 * bytes / report.bytes).toFixed(1) + " % of all" : "") +
		(grown ? ", " + speed(grown) : "")].filter(part => part).join(" ");
}

function zoom(node) {
	state.node = node;
	state.site = null;
	draw();
	fillTable();
	at("hover").textContent = describe(node);
	at("out").disabled = !node.parent;
	showChart(node.parent ? describe(node) : "All sites together", sitesBelow(node));
	showStack();
}

// ---- Growth

const valueAt = (moments, next, t) => {
	if (!next)
		return t < moments[0][0] ? 0 : moments[0][1];
	if (next === moments.length)
		return moments[next - 1][1];
	const [from, low] = moments[next - 1], [to, high] = moments[next];
	return low + (high - low) * (t - from) / (to - from);
};

// What several sites had together; between its moments a site is taken to have grown evenly.
function sumOver(chosen) {
	let times = [...new Set(chosen.flatMap(site => site.moments.map(moment => moment[0])))]
		.sort((a, b) => a - b);
	if (times.length > POINTS)
		times = Array.from({ length: POINTS }, (_, i) =>
			times[Math.round(i * (times.length - 1) / (POINTS - 1))]);
	const sums = times.map(t => [t, 0]);
	for (const { moments } of chosen) {
		let next = 0;
		for (const sum of sums) {
			while (next < moments.length && moments[next][0] <= sum[0])
				next++;
			sum[1] += valueAt(moments, next, sum[0]);
		}
	}
	return sums;
}

// A round number of units that is at least so much.
function roundUp(value) {
	const unit = 1024 ** Math.floor(Math.log(Math.max(value, 1)) / Math.log(1024));
	const power = 10 ** Math.floor(Math.log10(Math.max(value / unit, 1)));
	return [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 20].find(step => step * power * unit >= value) * power * unit;
}

function showChart(title, chosen) {
	const svg = at("chart").querySelector("svg"), points = sumOver(chosen);
	at("chart-title").textContent = "Bytes over time: " + title;
	svg.replaceChildren();
	if (points.length < 2) {
		shape(svg, "text", { x: 10, y: 30 }, "One report so far: growth needs a second one.");
		return;
	}
	const width = svg.clientWidth || 1000, height = 220, left = 76, right = 24, top = 10, low = 24;
	const first = points[0][0], span = points[points.length - 1][0] - first;
	const most = roundUp(Math.max(...points.map(point => point[1])));
	const x = t => left + (t - first) / span * (width - left - right);
	const y = bytes => top + (1 - bytes / most) * (height - top - low);
	for (let i = 0; i <= 4; i++) {
		const bytes = most * i / 4, t = first + span * i / 4;
		shape(svg, "line", { class: "grid", x1: left, x2: width - right, y1: y(bytes), y2: y(bytes) });
		shape(svg, "text", { x: left - 8, y: y(bytes) + 4, "text-anchor": "end" }, size(bytes));
		shape(svg, "text", { x: x(t), y: height - 6, "text-anchor": "middle" }, time(t));
	}
	const path = points.map(([t, bytes]) => x(t).toFixed(1) + "," + y(bytes).toFixed(1)).join(" ");
	shape(svg, "polygon", { class: "area", points: x(first) + "," + y(0) + " " + path + " " +
		x(first + span) + "," + y(0) });
	shape(svg, "polyline", { class: "series", points: path });
	for (const [t, bytes] of points.length <= 60 ? points : []) {
		const dot = shape(svg, "circle", { cx: x(t), cy: y(bytes), r: 3 });
		shape(dot, "title", {}, time(t) + ": " + number(bytes) + " bytes");
	}
}

function spark(cell, moments) {
	const most = Math.max(...moments.map(moment => moment[1]), 1), first = moments[0][0];
	const span = moments[moments.length - 1][0] - first || 1;
	shape(shape(cell, "svg", { viewBox: "0 0 90 22", "aria-hidden": true }), "polyline",
		{ class: "series", points: moments.map(([t, bytes]) =>
			2 + 86 * (t - first) / span + "," + (20 - 18 * bytes / most)).join(" ") });
}

// ---- One site

function showStack() {
	const site = state.site, text = [];
	at("stack").hidden = !site;
	if (!site)
		return;
	text.push(number(site.bytes) + " bytes in " + number(site.count) + " allocations from stack");
	for (const frame of [...site.frames].reverse())
		text.push("\t" + line(functions[frame]));
	text.push(site.notes, [sentence(site), partsOf(site), "site " + site.id]
		.filter(part => part).join("; "));
	at("stack").textContent = text.join("\n");
}

function choose(site) {
	state.site = site;
	showChart(titleOf(site), [site]);
	showStack();
	fillTable();
	draw();
	at("chart-title").scrollIntoView({ block: "nearest" });
}

function pickable(item, site) {
	item.tabIndex = 0;
	item.onclick = () => choose(site);
	item.onkeydown = event => event.key === "Enter" && choose(site);
	return item;
}

function showVerdicts() {
	const suspects = report.suspects;
	const told = suspects.reduce((sum, suspect) => sum + suspect.paths, 0);
	const known = sites.some(site => site.tendency && site.tendency !== "unknown");
	for (const site of suspects) {
		const item = pickable(element("li"), site);
		item.append(element("b", titleOf(site)), " " + (site.paths < 2 ? "" :
			site.paths + " paths" + (site.processes < 2 ? "" :
				" in " + site.processes + " processes") + " that grow by " + speed(site.rate_of_paths) +
			" together; the first: ") + sentence(site));
		at("verdicts").append(item);
	}
	at("verdict").textContent = suspects.length ? number(suspects.length) +
		(suspects.length === 1 ? " function seems" : " functions seem") + " to leak" +
		(report.suspects_total > told ? "; " + number(report.suspects_total - told) +
			" more sites grow" : "") :
		known && !report.undecided ? "Nothing looks like a leak so far" : "What grows is not known yet";
}

// ---- The table

const COLUMNS = [["function", "Allocated by"], ["bytes", "Bytes"], ["count", "Blocks"],
	["rate", "Growth"], ["score", "Score"], ["tendency", "Tendency"], ["", "Bytes over time"]];
const ORDER = { function: titleOf, tendency: site => site.tendency || "" };

function compare(a, b) {
	const key = ORDER[state.sort] || (site => site[state.sort] === null ? -Infinity : site[state.sort]);
	const left = key(a), right = key(b);
	return (left < right ? 1 : left > right ? -1 : 0) * (state.up ? -1 : 1);
}

function fillRow(site) {
	const row = pickable(element("tr", undefined, site === state.site ? "chosen" : ""), site);
	row.append(element("td", titleOf(site)), element("td", size(site.bytes)),
		element("td", number(site.count)), element("td", rateOf(site)),
		element("td", score(site), site.suspect ? "hot" : ""),
		element("td", WORDS[site.tendency] || ""), element("td"));
	row.children[1].title = number(site.bytes) + " bytes";
	spark(row.lastChild, site.moments);
	return row;
}

function fillTable() {
	const found = sites.filter(isFound).sort(compare), head = element("tr");
	for (const [key, title] of COLUMNS) {
		const cell = element("th", key ? undefined : title);
		const button = element("button", title + (key !== state.sort ? "" : state.up ? " \u25b4" : " \u25be"));
		button.onclick = () => {
			state.up = key === state.sort && !state.up;
			state.sort = key;
			fillTable();
		};
		if (key)
			cell.append(button);
		head.append(cell);
	}
	at("sites").tHead.replaceChildren(head);
	at("sites").tBodies[0].replaceChildren(...found.slice(0, state.rows).map(fillRow));
	at("more").hidden = found.length <= state.rows;
	at("more").textContent = number(found.length - state.rows) + " more sites: show " + ROWS;
}

// ---- All together

const root = buildTree();
state.node = root;
showVerdicts();
zoom(root);
canvas.onmousemove = event => {
	const box = boxAt(event);
	at("hover").textContent = describe(box ? box.node : state.node);
	canvas.title = box ? describe(box.node) : "";
};
canvas.onclick = event => {
	const box = boxAt(event);
	if (box)
		zoom(box.node);
};
at("out").onclick = () => zoom(state.node.parent || root);
at("find").oninput = event => search(event.target.value);
at("metric").onchange = event => {
	state.metric = event.target.selectedIndex;
	draw();
};
at("more").onclick = () => {
	state.rows += ROWS;
	fillTable();
};
document.addEventListener("keydown", event => {
	if (event.key === "Escape")
		zoom(state.node.parent || root);
	if (event.key === "/" && document.activeElement !== at("find")) {
		event.preventDefault();
		at("find").focus();
	}
});
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
window.addEventListener("resize", () => state.site ? choose(state.site) : zoom(state.node));
document.documentElement.dataset.ready = "yes";
