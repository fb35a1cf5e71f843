// SPDX-License-Identifier: GPL-2.0-or-later
// Draws the page: bytes over time, boxes for callers, ages and sizes, a table of functions.

const BOX_HEIGHT = 18, ROWS = 50, NEAR_PX = 4;
const state = { find: "", metric: report.diff ? 2 : 0, inverted: false, folded: true, lost: false,
	peak: false, process: "", range: null, sort: report.diff ? "change" : "verdict", up: false,
	rows: ROWS, open: new Set() };
let root, node, shown = [], picked = null, stacked = null;

// ---- Selection: a process, lost blocks, a range of time

function evaluate(site) {
	site.changed = report.diff ? site.bytes - site.before[0] : 0;
	site.values = [site.bytes, site.count, report.diff ? Math.abs(site.changed) :
		grows(site) ? site.rate : 0];
	if (!state.range || !site.moments)
		return;
	const [from, to] = state.range;
	const held = [1, 2].map(which => valueAt(site.moments, to, which));
	site.changed = held[0] - valueAt(site.moments, from, 1);
	site.values = [...knowsBirths(state.range) ? bornAfter(site, from) : held,
		Math.max(site.changed, 0)];
}

const isChosen = site => (state.process === "" || String(site.process) === state.process) &&
	(!state.lost || isLost(site)) &&
	(!state.range || state.peak || site.values[0] > 0 || (site.changed && !knowsBirths(state.range)));

// ---- Search

const haystacks = functions.map(entry =>
	(nameOf(entry) + "\n" + strings[entry[1]] + "\n" + strings[entry[3]]).toLowerCase());
let hits = new Uint8Array(functions.length);
const isFound = site => !state.find || site.frames.some(frame => hits[frame]) ||
	processOf(site).toLowerCase().includes(state.find);

// Shows the number of matching sites; during a search, also their percentage of the shown bytes.
function tellFound() {
	const all = state.peak ? report.peak : report, found = shown.filter(isFound);
	const [sum, sumShown] = [found, shown].map(sites =>
		sites.reduce((bytes, site) => bytes + site.values[0], 0));
	const percent = of => (100 * sum / of).toFixed(1) + " %";
	const words = number(found.length) + " of " + number(all.sites.length) + " sites, " + size(sum);
	if (state.find)
		at("found").textContent = words + (sumShown ? ", matched " + percent(sumShown) : "");
	else
		at("found").textContent = found.length === all.sites.length ? "" :
			words + (all.bytes && !state.range ? " (" + percent(all.bytes) + ")" : "");
}

function search(text) {
	state.find = text.toLowerCase();
	state.rows = ROWS;
	hits = Uint8Array.from(haystacks, hay => state.find && hay.includes(state.find) ? 1 : 0);
	tellFound();
	draw();
	fillTable();
}

// Redraws the page for the current selection.
function choose() {
	const all = state.peak ? report.peak.sites : report.sites;
	all.forEach(evaluate);
	shown = all.filter(isChosen);
	root = treeOf(shown, state.inverted, state.folded);
	tellFound();
	zoom(root);
}

// ---- The boxes

const canvas = at("boxes").querySelector("canvas");
let drawn = [];

const ancestors = below => below.parent ? [...ancestors(below.parent), below] : [below];
const sorted = above => [...childrenOf(above)].sort((a, b) =>
	b.values[state.metric] - a.values[state.metric]);

// Places boxes. Boxes narrower than a pixel are left out, with all their children.
function place(above, x, width, row, into) {
	into.push({ node: above, x, width, row });
	let left = x;
	for (const child of sorted(above)) {
		const share = width * child.values[state.metric] / above.values[state.metric];
		if (!(share >= 1))
			break;
		place(child, left, share, row + 1, into);
		left += share;
	}
}

// Returns the value of a style sheet's colour variable in the current colour scheme.
function colour(name) {
	const probe = at("hover");
	probe.style.color = "var(--" + name + ")";
	const ret = getComputedStyle(probe).color;
	probe.style.color = "";
	return ret;
}

function drawBox(context, colours, box) {
	const { node: of, x, width, row } = box, y = row * BOX_HEIGHT;
	const found = state.find && ([...of.frames].some(frame => hits[frame]) ||
		(!of.frames.size && of.parent && of.label.toLowerCase().includes(state.find)));
	const alpha = state.find && !found ? 0.35 : 1;
	const fill = (style, share) => {
		context.globalAlpha = alpha * Math.min(share, 1);
		context.fillStyle = style;
		context.fillRect(x, y, Math.max(width - 1, 0.5), BOX_HEIGHT - 1);
	};
	fill(found ? colours.found : colours.cold, 1);
	for (const tone of found ? [] : TONES)
		if (of.tones[tone] && of.tones[tone][state.metric])
			fill(colours[tone], of.tones[tone][state.metric] / of.values[state.metric]);
	context.globalAlpha = 1;
	if (colours.picked.size && of.sites.some(site => colours.picked.has(site)))
		context.strokeRect(x + 0.5, y + 0.5, Math.max(width - 2, 1), BOX_HEIGHT - 2);
	const room = Math.floor((width - 8) / colours.letter);
	if (room < 3)
		return;
	context.fillStyle = colours.text;
	context.fillText(of.label.length > room ? of.label.slice(0, room - 1) + "\u2026" : of.label,
		x + 4, y + BOX_HEIGHT - 5);
}

function draw() {
	const width = at("boxes").clientWidth, ratio = window.devicePixelRatio || 1;
	const above = ancestors(node).slice(0, -1);
	drawn = above.map((one, row) => ({ node: one, x: 0, width, row }));
	place(node, 0, width, above.length, drawn);
	const rows = drawn.reduce((most, box) => Math.max(most, box.row + 1), 1);
	canvas.width = width * ratio;
	canvas.height = rows * BOX_HEIGHT * ratio;
	canvas.style.height = rows * BOX_HEIGHT + "px";
	const context = canvas.getContext("2d");
	context.scale(ratio, ratio);
	context.font = "12px ui-monospace, monospace";
	context.strokeStyle = colour("series");
	const colours = { letter: context.measureText("m").width, text: colour("on-box"),
		picked: new Set(picked ? picked.sites : []) };
	for (const name of ["cold", "found", ...TONES])
		colours[name] = colour(name);
	for (const box of drawn)
		drawBox(context, colours, box);
}

function boxAt(event) {
	const frame = canvas.getBoundingClientRect();
	const x = event.clientX - frame.left, row = Math.floor((event.clientY - frame.top) / BOX_HEIGHT);
	return drawn.find(box => box.row === row && x >= box.x && x < box.x + box.width);
}

function grownBy(of) {
	const [more, less] = ["more", "less"].map(tone => of.tones[tone] ? of.tones[tone][2] : 0);
	if (report.diff)
		return (more ? ", grown by " + size(more) : "") + (less ? ", shrunk by " + size(less) : "");
	return !of.values[2] ? "" : ", " + (state.range ? "+" + size(of.values[2]) : speed(of.values[2]));
}

function describe(of) {
	const [bytes, count] = of.values, entries = [...of.frames].map(frame => functions[frame]);
	const places = [...new Set(entries.map(placeOf))].filter(told => told);
	const sources = [...new Set(entries.map(sourceOf))].filter(told => told);
	const all = root.values[0];
	return [of.label, places.slice(0, 3).join(", ") + (places.length > 3 ? ", \u2026" : ""),
		entries.length ? moduleOf(entries[0]) : "", "\u2014 " + size(bytes) + " (" +
		number(bytes) + " bytes) in " + blocks(count) + (all ? ", " +
		(100 * bytes / all).toFixed(1) + " % of all" : "") + grownBy(of),
	sources.length === 1 ? "\u2014 " + sources[0] : ""]
		.filter(part => part).join(" ");
}

function zoom(to) {
	node = to;
	picked = stacked = null;
	at("out").disabled = !to.parent;
	at("hover").textContent = describe(to);
	refresh();
}

// ---- Bytes over time

// Rounds value up to a round number of units.
function roundUp(value) {
	const unit = 1024 ** Math.floor(Math.log(Math.max(value, 1)) / Math.log(1024));
	const power = 10 ** Math.floor(Math.log10(Math.max(value / unit, 1)));
	return [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 20].find(step => step * power * unit >= value) * power * unit;
}

// Returns the histories to draw. Those of processes include sites that no longer exist.
function pastsOf() {
	if (picked || node.parent || state.lost)
		return (picked || node).sites.map(site => site.moments || []);
	const chosen = report.processes.filter((_, i) => state.process === "" || state.process === String(i));
	return [...chosen.map(process => process.moments), ...state.process !== "" ? [] :
		report.sites.filter(site => site.process === undefined)
			.map(site => site.moments || [])];
}

const titleOfChosen = () => picked ? picked.title : node.parent ? node.label :
	state.process !== "" ? processes[state.process] : "all";

const svg = at("chart").querySelector("svg");
let scale = null, brush = null;

// Returns the beginning of the last tenth of the timeline, which is the same for each selection.
function youngFrom() {
	const begins = report.sites.flatMap(site => site.moments?.length ? [site.moments[0][0]] : []);
	const first = begins.reduce((least, ms) => Math.min(least, ms), report.ms);
	return report.ms - (report.ms - first) / 10;
}

// Draws a grey band over the last tenth of the timeline.
function markYoung(x, top, bottom) {
	if (youngFrom() >= scale.last)
		return;
	const from = x(Math.max(youngFrom(), scale.first)), to = x(scale.last);
	const band = shape(svg, "rect", { class: "young", x: from, width: to - from, y: top,
		height: bottom - top });
	shape(band, "title", {}, "Blocks allocated in the last tenth of the timeline may still be " +
		"freed: growth here is no sign of a leak yet");
	shape(svg, "text", { x: to - 4, y: bottom - 4, "text-anchor": "end" }, "may still be freed");
}

function showChart() {
	const points = sumOver(pastsOf());
	svg.replaceChildren();
	scale = null;
	svg.toggleAttribute("hidden", points.length < 2);
	if (points.length < 2) {
		at("chart-title").textContent = "Bytes over time: one report so far, growth needs a second one";
		return;
	}
	const width = svg.clientWidth || 1000, height = 130, left = 70, right = 20, top = 8, low = 20;
	const first = points[0][0], span = points[points.length - 1][0] - first;
	const most = roundUp(Math.max(...points.map(point => point[1])));
	const x = ms => left + (ms - first) / span * (width - left - right);
	const y = bytes => top + (1 - bytes / most) * (height - top - low);
	scale = { points, x, first, last: first + span, ms: px =>
		first + (px - left) / (width - left - right) * span };
	for (let i = 0; i <= 4; i++) {
		const bytes = most * i / 4, ms = first + span * i / 4;
		if (i % 2 === 0) {
			shape(svg, "line", { class: "grid", x1: left, x2: width - right, y1: y(bytes), y2: y(bytes) });
			shape(svg, "text", { x: left - 8, y: y(bytes) + 4, "text-anchor": "end" }, size(bytes));
		}
		shape(svg, "text", { x: x(ms), y: height - 5, "text-anchor": "middle" }, time(Math.round(ms / 100) * 100));
	}
	const path = points.map(([ms, bytes]) => x(ms).toFixed(1) + "," + y(bytes).toFixed(1)).join(" ");
	shape(svg, "polygon", { class: "area", points: x(first) + "," + y(0) + " " + path + " " +
		x(first + span) + "," + y(0) });
	markYoung(x, top, height - low);
	shape(svg, "polyline", { class: "series", points: path });
	for (const [ms, bytes] of points.length <= 60 ? points : []) {
		const dot = shape(svg, "circle", { cx: x(ms), cy: y(bytes), r: 2.5 });
		shape(dot, "title", {}, time(ms) + ": " + number(bytes) + " bytes");
	}
	if (report.peak && report.peak.ms >= first)
		shape(svg, "line", { class: "peak", x1: x(report.peak.ms), x2: x(report.peak.ms), y1: top,
			y2: height - low });
	svg.append(shape(svg, "rect", { class: "range", y: top, height: height - top - low }));
	showRange(state.range);
}

// Parts of resident memory, in the order of enum rss_part; the lowest area comes first.
const RSS_PARTS = ["live blocks in glibc\u2019s heap", "kept by glibc below live blocks",
	"kept by glibc, malloc_trim would return it", "kept by glibc at the ends of heaps",
	"kept by Python", "other anonymous memory", "stacks", "files", "shared", "not read", "other"];

// Draws the parts of resident memory as areas on each other.
function showRss() {
	const panel = at("rss"), moments = report.rss || [];
	panel.hidden = moments.length < 2;
	if (panel.hidden)
		return;
	const picture = panel.querySelector("svg"), legend = panel.querySelector("p");
	const width = picture.clientWidth || 1000, height = 130, left = 70, right = 20, top = 8, low = 20;
	const first = moments[0][0], span = moments[moments.length - 1][0] - first || 1;
	const sum = ([, ...parts], cnt) => parts.slice(0, cnt).reduce((all, bytes) => all + bytes, 0);
	const most = roundUp(Math.max(...moments.map(moment => sum(moment, RSS_PARTS.length))));
	const x = ms => (left + (ms - first) / span * (width - left - right)).toFixed(1);
	const y = bytes => (top + (1 - bytes / most) * (height - top - low)).toFixed(1);
	const edge = cnt => moments.map(moment => x(moment[0]) + "," + y(sum(moment, cnt)));
	picture.replaceChildren();
	legend.replaceChildren();
	for (let i = 0; i < RSS_PARTS.length; i++) {
		const bytes = moments[moments.length - 1][i + 1];
		if (!moments.some(moment => moment[i + 1] >= most / 100))
			continue;
		const words = RSS_PARTS[i] + ": " + size(moments[0][i + 1]) + " \u2192 " + size(bytes);
		shape(shape(picture, "polygon", { class: "part" + i,
			points: [...edge(i + 1), ...edge(i).reverse()].join(" ") }), "title", {}, words);
		const name = document.createElement("span");
		name.className = "part" + i;
		name.textContent = words;
		legend.append(name);
	}
	for (let i = 0; i <= 4; i++) {
		const ms = first + span * i / 4;
		if (i % 2 === 0)
			shape(picture, "text", { x: left - 8, y: Number(y(most * i / 4)) + 4,
				"text-anchor": "end" }, size(most * i / 4));
		shape(picture, "text", { x: x(ms), y: height - 5, "text-anchor": "middle" },
			time(Math.round(ms / 100) * 100));
	}
}

function showRange(range) {
	const rect = svg.querySelector(".range"), points = scale ? scale.points : [];
	if (!rect)
		return;
	rect.setAttribute("x", range ? scale.x(Math.max(range[0], scale.first)) : 0);
	rect.setAttribute("width", !range ? 0 : Math.max(scale.x(Math.min(range[1], scale.last)) -
		scale.x(Math.max(range[0], scale.first)), 0));
	const [from, to] = !range ? [] : range.map(ms => valueAt(points, ms, 1));
	const highest = points.reduce((most, point) => point[1] > most[1] ? point : most);
	at("chart-title").textContent = "Bytes over time: " + titleOfChosen() + (!range ?
		", at most " + size(highest[1]) + " at " + time(Math.round(highest[0] / 100) * 100) +
		" \u2014 draw over a range to see what it changed" : ", from " + time(Math.round(range[0])) +
		" to " + time(Math.round(range[1])) + ": " + size(from) + " \u2192 " + size(to) + " (" +
		signed(to - from) + ")" + (range !== state.range ? "" : "; below: " + wordsBelow(range)) +
		" \u2014 click to see all");
}

// Says which amounts the boxes and the table show for a range.
function wordsBelow(range) {
	if (knowsBirths(range))
		return "allocated in this range and still outstanding, " + size(node.values[0]);
	return "outstanding at the end of the range, " + size(node.values[0]) +
		" by stacks that the last report has" +
		(report.earlier ?
			"; to see what was allocated in this range, extend it to the last report" : "");
}

const nearest = (times, ms) => times.reduce((best, at) =>
	Math.abs(at - ms) < Math.abs(best - ms) ? at : best);
const pxOf = event => event.clientX - svg.getBoundingClientRect().left;

// Moves the start of a range to the nearest moment by which births are known.
const snapped = ([from, to]) =>
	[knowsBirths([from, to]) && from < to ? nearest(report.earlier, from) : from, to];

function brushed(px) {
	return snapped([Math.min(brush, px), Math.max(brush, px)].map(at =>
		nearest(scale.points.map(point => point[0]), scale.ms(at))));
}

svg.onpointerdown = event => {
	brush = scale ? pxOf(event) : null;
};
document.addEventListener("pointermove", event => {
	if (brush !== null)
		showRange(brushed(pxOf(event)));
});
document.addEventListener("pointerup", event => {
	if (brush === null)
		return;
	const px = pxOf(event), range = brushed(px);
	setRange(Math.abs(px - brush) < NEAR_PX || range[0] === range[1] ? null : range);
	brush = null;
});

function setRange(range) {
	state.range = range;
	choose();
}

function spark(cell, moments) {
	if (moments.length < 2)
		return;
	const most = Math.max(...moments.map(moment => moment[1]), 1), first = moments[0][0];
	const span = moments[moments.length - 1][0] - first || 1;
	shape(shape(cell, "svg", { viewBox: "0 0 90 22", "aria-hidden": true }), "polyline",
		{ class: "series", points: moments.map(([ms, bytes]) =>
			2 + 86 * (ms - first) / span + "," + (20 - 18 * bytes / most)).join(" ") });
}

// ---- Ages and sizes: classes by powers of two

function classesOf(found, key) {
	const classes = [];
	for (const site of found)
		for (let i = 0; site[key] && i < site[key].length; i += 3) {
			const sum = classes[site[key][i]] = classes[site[key][i]] || [0, 0];
			sum[0] += site[key][i + 1];
			sum[1] += site[key][i + 2];
		}
	return classes;
}

function showClasses(id, word, found, from) {
	const panel = at(id), picture = panel.querySelector("svg"), classes = classesOf(found, id);
	const least = classes.findIndex(sum => sum), cnt = classes.length - least;
	panel.hidden = report.diff || state.peak || state.range !== null || !classes.length;
	if (panel.hidden)
		return;
	panel.querySelector("p").textContent = "Bytes by " + word + " of their blocks: " + titleOfChosen();
	picture.replaceChildren();
	const width = picture.clientWidth || 400, step = Math.min(width / cnt, 60);
	const most = Math.max(...classes.filter(sum => sum).map(sum => sum[0]), 1);
	for (let i = least; i < classes.length; i++) {
		const [bytes, count] = classes[i] || [0, 0], x = (i - least) * step, high = 84 * bytes / most;
		const bar = shape(picture, "rect", { class: "bar", x: x + 1, width: Math.max(step - 2, 1),
			y: 92 - high, height: high });
		shape(bar, "title", {}, "from " + from(i) + " to " + from(i + 1) + ": " + size(bytes) + " in " +
			blocks(count));
		if (step > 36 || (i - least) % Math.ceil(36 / step) === 0)
			shape(picture, "text", { x: x + 1, y: 106 }, from(i));
	}
}

function showHistograms() {
	const found = (picked || node).sites;
	showClasses("ages", "age", found, at => time(at ? 2 ** (at - 1) : 0));
	showClasses("sizes", "size", found, at => size(at ? 2 ** (at - 1) : 0));
}

// ---- One stack

function showStack() {
	const site = stacked;
	at("stack").hidden = !site;
	if (!site)
		return;
	const text = [number(site.bytes) + " bytes in " + number(site.count) + " allocations from stack" +
		(processOf(site) ? " of " + processOf(site) : ""), ...stackOf(site, state.folded),
	site.notes, proofOf(site), trendOf(site), "site " + site.id];
	at("stack").textContent = text.filter(part => part).join("\n");
}

// Redraws the details of the picked sites.
function refresh() {
	draw();
	showChart();
	showRss();
	showStack();
	showHistograms();
	fillTable();
}

// Picks the sites of one title, and shows the stack of one of them.
function pick(title, found, site) {
	picked = { title, sites: found };
	stacked = site;
	refresh();
}

function pickable(item, onPick) {
	item.tabIndex = 0;
	item.onclick = onPick;
	item.onkeydown = event => event.key === "Enter" && onPick();
	return item;
}

// Links the lines of losses and suspects to their sites, which may not be among those shown.
function linkTold() {
	const sites = report.told || [];
	// The verdict comes first. If it names the only site, that site has no line of its own.
	const lines = [...document.querySelectorAll(".head .lost, .head .grows")].slice(-sites.length);
	sites.forEach((told, i) => {
		const site = report.sites.find(one => one.id === told.id) || told;
		pickable(lines[i], () => {
			pick(titleOf(site), [site], site);
			at("chosen").scrollIntoView({ block: "center" });
		});
	});
}

// ---- The table

const growthOf = row => state.range ? row.change : row.values[2] || row.first.rate || 0;
const COLUMNS = [["title", "Allocated by"],
	...processes.length > 1 ? [["process", "Process"]] : [],
	...report.diff ? [["before", "Before"], ["bytes", "After"], ["change", "Change"], ["", "What"]] : [
		["bytes", "Bytes"], ["count", "Blocks"],
		...report.proved ? [["lost", "Not pointed to"], ["held", "Held by"]] : [],
		["growth", "Growth"], ["score", "Score"], ["tendency", "Tendency"], ["", "Bytes over time"]]];
const WORDY = ["process", "held", ""];
const tendencyOf = row => (row.sites.find(grows) || row.first).tendency || "";
// Functions with a line at the top of the page come first, in the order of these lines.
const lineOf = new Map((report.told || []).map((told, i) => [told.id, i]));
const verdictOf = row => -row.sites.reduce((first, site) =>
	Math.min(first, lineOf.get(site.id) ?? Infinity), Infinity);
const ORDER = { verdict: verdictOf, title: row => titleOf(row.first), process: row => row.processes.join(),
	before: row => row.values[0] - row.change, bytes: row => row.values[0], count: row => row.values[1],
	change: row => Math.abs(row.change), lost: row => row.lost, held: row => chainOf(row.first),
	growth: growthOf, score: row => row.score === null ? -1 : row.score, tendency: tendencyOf };

function compareBy(key, a, b) {
	const left = ORDER[key](a), right = ORDER[key](b);
	return (left < right ? 1 : left > right ? -1 : 0) * (state.up ? -1 : 1);
}

const compare = (a, b) => compareBy(state.sort, a, b) || compareBy("bytes", a, b);

// Blocks that are only possible are not lost, but are not known to be in use either.
function lostCell(row) {
	return row.lost ? element("td", size(row.lost), "lost") :
		row.possible ? element("td", "perhaps " + size(row.possible), "possible") :
		element("td", row.first.reach ? "" : "?");
}

const CELLS = {
	process: row => element("td", row.processes.length > 3 ? number(row.processes.length) +
		" processes" : row.processes.join(", "), "words"),
	before: row => element("td", size(row.values[0] - row.change)),
	bytes: row => element("td", size(row.values[0])),
	count: row => element("td", number(row.values[1])),
	change: row => element("td", signed(row.change), row.change > 0 ? "lost" : ""),
	lost: lostCell,
	held: row => element("td", row.first.held_by ? chainOf(row.first).split(" \u2192 ")[0] : "", "words"),
	growth: row => element("td", state.range ? signed(row.change) : row.first.rate === null ||
		row.first.rate === undefined ? "" : speed(growthOf(row))),
	score: row => element("td", score(row.score), row.sites.some(site => site.suspect) ? "hot" : ""),
	tendency: row => element("td", WORDS[tendencyOf(row)] || ""),
};

function fillRow(row, isPath) {
	const isPicked = picked && picked.sites.length === row.sites.length && picked.sites[0] === row.sites[0];
	const item = element("tr", undefined, (isPath ? "path " : "") + (isPicked ? "chosen" : ""));
	const paths = row.sites.length;
	item.append(element("td", isPath ? titleOfPath(row.first) : titleOf(row.first) + (paths > 1 ? " (" + number(paths) + " paths)" : "")));
	for (const [key] of COLUMNS.slice(1, -1))
		item.append(CELLS[key](row));
	if (report.diff)
		item.append(element("td", [...new Set(row.sites.map(site => site.change))].join(", "), "words"));
	else
		spark(item.appendChild(element("td")), sumOver(row.sites.map(site => site.moments || [])));
	return pickable(item, () => {
		if (paths > 1 && !state.open.delete(row.key))
			state.open.add(row.key);
		pick(titleOf(row.first) + (paths > 1 ? " (" + paths + " paths)" : ""), row.sites, row.first);
	});
}

// Returns a row, followed by its paths if it is open.
function fillRows(row) {
	return [fillRow(row, false), ...!state.open.has(row.key) || row.sites.length < 2 ? [] :
		row.sites.map(site => rowOf("", [site])).sort(compare).map(path => fillRow(path, true))];
}

function fillTable() {
	const rows = rowsOf(node.sites.filter(isFound)).sort(compare);
	const head = element("tr");
	for (const [key, title] of COLUMNS) {
		const cell = element("th", key ? undefined : title, WORDY.includes(key) ? "words" : "");
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
	at("sites").tBodies[0].replaceChildren(...rows.slice(0, state.rows).flatMap(fillRows));
	const more = rows.length - state.rows;
	at("more").hidden = more <= 0;
	at("more").textContent = more <= 0 ? "" : number(more) + " more function" + (more > 1 ? "s" : "") +
		": show " + Math.min(more, ROWS);
}

// ---- Start-up

function fillBar() {
	at("metric").append(...["bytes", "blocks", report.diff ? "change" : "growth"]
		.map(name => element("option", name)));
	at("metric").selectedIndex = state.metric;
	at("process").append(new Option("all processes", ""), ...processes.map((name, i) =>
		new Option(name, i)));
	at("process").hidden = processes.length < 2;
	at("lost").parentNode.hidden = !report.proved;
	at("peak").parentNode.hidden = !report.peak;
	at("chart").hidden = report.diff;
	at("legend").textContent = (report.diff ? "Red has grown, blue has shrunk. " :
		"Orange is what seems to leak" + (!report.proved ? ". " :
			", red what nothing points to, yellow what perhaps nothing points to. ")) +
		"Click on a box to see it alone.";
}

function toggle(id) {
	at(id).onchange = event => {
		state[id] = event.target.checked;
		choose();
	};
}

fillBar();
linkTold();
choose();
canvas.onmousemove = event => {
	const box = boxAt(event);
	at("hover").textContent = describe(box ? box.node : node);
};
canvas.onclick = event => {
	const box = boxAt(event);
	if (box)
		zoom(box.node);
};
const zoomOut = () => node.parent ? zoom(node.parent) : state.range && setRange(null);
at("out").onclick = zoomOut;
at("find").oninput = event => search(event.target.value);
["inverted", "folded", "lost", "peak"].forEach(toggle);
at("process").onchange = event => {
	state.process = event.target.value;
	choose();
};
at("metric").onchange = event => {
	state.metric = event.target.selectedIndex;
	draw();
};
const darkness = window.matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (document.documentElement.style.colorScheme ||
	(darkness.matches ? "dark" : "light")) === "dark";
at("theme").onclick = () => {
	document.documentElement.style.colorScheme = isDark() ? "light" : "dark";
	draw();
};
at("more").onclick = () => {
	state.rows += ROWS;
	fillTable();
};
document.addEventListener("keydown", event => {
	if (event.key === "Escape")
		zoomOut();
	if (event.key === "/" && document.activeElement !== at("find")) {
		event.preventDefault();
		at("find").focus();
	}
});
darkness.addEventListener("change", draw);
window.addEventListener("resize", refresh);
document.documentElement.dataset.ready = "yes";
