// SPDX-License-Identifier: GPL-2.0-or-later
// Turns the JSON earlier in the page into words, table rows and a tree of callers. Names come from
// hostile programs: they become text of elements, never markup.
"use strict";

const WORDS = {
	unknown: "not known yet", flat: "flat", steady: "grows steadily", steps: "grows in steps",
	levelled: "levelled off", shrinks: "shrinks",
};

const grows = site => site.tendency === "steady" || site.tendency === "steps";

const at = id => document.getElementById(id);
const read = id => JSON.parse(at(id).textContent);
const strings = read("strings"), functions = read("functions"), report = read("report");
const processes = report.processes.map(process => strings[process.name]);

function element(tag, text, className) {
	const made = document.createElement(tag);
	if (text !== undefined)
		made.textContent = text;
	if (className)
		made.className = className;
	return made;
}

function shape(parent, tag, attributes, text) {
	const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
	for (const name in attributes)
		made.setAttribute(name, attributes[name]);
	if (text !== undefined)
		made.textContent = text;
	parent.append(made);
	return made;
}

// ---- Words and numbers

const number = value => Math.round(value).toLocaleString("en");

function size(bytes) {
	const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
	let unit = 0, value = Math.abs(bytes);
	while (value >= 1023.5 && unit < units.length - 1) {
		value /= 1024;
		unit++;
	}
	const digits = unit && value < 10 ? 2 : unit && value < 100 ? 1 : 0;
	return (bytes < 0 ? "\u2212" : "") + value.toFixed(digits) + " " + units[unit];
}

function time(ms) {
	if (ms < 1000 && ms % 100)
		return ms + " ms";
	if (ms < 60000)
		return (ms / 1000).toFixed(ms % 1000 && ms < 10000 ? 1 : 0) + " s";
	if (ms < 3600000)
		return Math.floor(ms / 60000) + " min " + Math.round(ms % 60000 / 1000) + " s";
	return Math.floor(ms / 3600000) + " h " + Math.round(ms % 3600000 / 60000) + " min";
}

const blocks = count => number(count) + (count === 1 ? " block" : " blocks");
const tail = (path, parts) => path.split("/").slice(-parts).join("/");
const signed = bytes => (bytes > 0 ? "+" : "") + size(bytes);
// rate is in thousandths of bytes per second: a slow leak may grow by less than 1 B/s.
const speed = rate => (rate > 0 ? "+" : "") +
	(Math.abs(rate) < 10000 ? rate / 1000 + " B" : size(rate / 1000)) + "/s";
const score = value => value === null || value === undefined ? "" : (value / 1000).toFixed(2);

function moduleOf(entry) {
	const module = strings[entry[3]];
	return !module ? "" : module[0] === "[" ? module : "[" + tail(module, 1) + "]";
}

// Returns a function's name. A name that begins with + is an offset in a module.
function nameOf(entry) {
	const name = strings[entry[0]];
	return name[0] === "+" ? tail(strings[entry[3]], 1) + name : name;
}

function placeOf(entry) {
	const file = strings[entry[1]];
	return file ? tail(file, 2) + (entry[2] ? ":" + entry[2] : "") : "";
}

// Returns the text of a function's source line, which only a page with --source has.
const sourceOf = entry => entry[5] === undefined ? "" : strings[entry[5]];

const line = entry => [nameOf(entry), placeOf(entry),
	strings[entry[0]][0] === "+" ? "" : moduleOf(entry), entry[4] ? "(inlined)" : ""]
	.filter(part => part).join(" ");
const blamed = site => functions[site.frames[site.culprit]];
const processOf = site => site.process === undefined ? "" : processes[site.process];

// ---- Results of a proof: pairs of bytes and blocks

const KINDS = ["definite", "indirect", "possible", "reachable"];
const inBlocks = ([bytes, count]) => blocks(count) + " (" + size(bytes) + ")";
const bytesLost = site => site.reach ? site.reach.definite[0] + site.reach.indirect[0] : 0;
const isLost = site => site.reach !== undefined &&
	(site.reach.definite[1] > 0 || site.reach.indirect[1] > 0);
const isPossible = site => site.reach !== undefined && site.reach.possible[1] > 0;
const chainOf = site => (site.held_by || []).map(holder => strings[holder]).join(" \u2192 ");

function proofOf(site) {
	if (!site.reach)
		return "";
	const parts = KINDS.filter(kind => site.reach[kind][1])
		.map(kind => kind + " " + inBlocks(site.reach[kind]));
	if (site.lost[1])
		parts.push("lost " + inBlocks(site.lost) +
			(site.with_them[1] ? ", and with them " + inBlocks(site.with_them) : ""));
	return parts.join("; ") + (chainOf(site) ? "\nheld by " + chainOf(site) : "");
}

function trendOf(site) {
	if (site.rate === undefined || site.rate === null || site.tendency === "unknown")
		return "";
	const parts = ["growth", "unfreed", "risen"].map((name, i) =>
		name + " " + (site.parts[i] === null ? "?" : score(site.parts[i])));
	return (WORDS[site.tendency] || site.tendency) + (site.since_ms ? " for " +
		time(site.since_ms) : "") + " (" + speed(site.rate) + "); " + (!site.seen ? "" :
		site.freed ? number(site.freed) + " of " + number(site.seen) +
			" blocks that were seen were freed; " : "none was seen to be freed; ") +
		"score " + score(site.score) + ", of which " + parts.join(", ");
}

// ---- Stacks: whole, or folded as in a text report

// Returns indices of frames, outermost first. Negative ones are folded rows: -1 - their offset in
// site.inside.
function placesOf(site, isFolded) {
	const places = [];
	for (let i = 0; i < site.frames.length; i++)
		places.push(i);
	if (!isFolded)
		return places;
	for (let i = 0; i < site.inside.length; i += 3)
		places.splice(site.inside[i], site.inside[i + 1], -1 - i);
	return places.slice(site.start);
}

const frameAt = (site, place) => place < 0 ? site.inside[1 - place] : site.frames[place];

const sourceBelow = entry => sourceOf(entry) && "\n        " + sourceOf(entry);

function stackOf(site, isFolded) {
	return placesOf(site, isFolded).reverse().map(place => (place === site.culprit ? "\u2192 " : "  ") +
		(place < 0 ? "\u2026 " + site.inside[-place] + " frames of " +
			strings[functions[frameAt(site, place)][0]].slice(2) :
			line(functions[site.frames[place]]) + sourceBelow(functions[site.frames[place]])));
}

// ---- Rows of the table: all paths of a function share a row

const titleOf = site => (site.objects || line(blamed(site)) + (site.through === undefined ? "" :
	", through " + nameOf(functions[site.frames[site.through]]))) + (site.kind ? ", " + site.kind : "");

// Returns the title of one of several paths, by what distinguishes it.
function titleOfPath(site) {
	const [inner, outer] = [site.culprit + 1, site.culprit - 1].map(place =>
		functions[site.frames[place]]);
	return [placeOf(blamed(site)) || nameOf(blamed(site)), outer ? "called by " + nameOf(outer) : "",
		inner ? "by way of " + nameOf(inner) : ""].filter(part => part).join(", ");
}

function keyOf(site) {
	const owner = blamed(site);
	return [site.objects || nameOf(owner) + "\n" + owner[3],
		site.through === undefined ? "" : nameOf(functions[site.frames[site.through]]),
		site.kind || ""].join("\n");
}

function rowOf(key, found) {
	const row = { key, sites: found, values: [0, 0, 0], change: 0, lost: 0, possible: 0, score: null };
	for (const site of found) {
		site.values.forEach((value, metric) => { row.values[metric] += value; });
		row.change += site.changed;
		row.lost += bytesLost(site);
		row.possible += isPossible(site) ? site.reach.possible[0] : 0;
		if (site.score !== null && site.score !== undefined)
			row.score = Math.max(row.score, site.score);
	}
	row.first = found.reduce((most, site) => site.values[0] > most.values[0] ? site : most);
	row.processes = [...new Set(found.map(processOf))];
	return row;
}

function rowsOf(chosen) {
	const rows = new Map();
	for (const site of chosen) {
		site.key = site.key || keyOf(site);
		if (!rows.has(site.key))
			rows.set(site.key, []);
		rows.get(site.key).push(site);
	}
	return [...rows].map(([key, found]) => rowOf(key, found));
}

// ---- The tree of callers: root first, functions of one name and module share a node

const TONES = ["hot", "possible", "lost", "more", "less"];

function toneOf(site) {
	if (report.diff)
		return site.changed > 0 ? "more" : site.changed < 0 ? "less" : "";
	return isLost(site) ? "lost" : isPossible(site) ? "possible" : site.suspect ? "hot" : "";
}

const keysOfFunctions = functions.map(entry => nameOf(entry) + "\n" + entry[3]);

const newNode = (parent, label) => ({ parent, label, depth: parent ? parent.depth + 1 : 0,
	sites: [], values: [0, 0, 0], tones: {}, frames: new Set(), children: null });

function addTo(node, site) {
	const tone = toneOf(site);
	node.sites.push(site);
	const part = tone ? node.tones[tone] = node.tones[tone] || [0, 0, 0] : null;
	for (let metric = 0; metric < 3; metric++) {
		node.values[metric] += site.values[metric];
		if (part)
			part[metric] += site.values[metric];
	}
}

// Returns the path from the root to a site: its process, if there are several, and its functions.
function pathOf(site, isInverted, isFolded) {
	const path = placesOf(site, isFolded).map(place => frameAt(site, place));
	if (isInverted)
		path.reverse();
	if (processes.length > 1)
		path[isInverted ? "push" : "unshift"](processOf(site) || "kernel");
	return path;
}

function treeOf(chosen, isInverted, isFolded) {
	const root = newNode(null, "all");
	for (const site of chosen) {
		site.path = pathOf(site, isInverted, isFolded);
		addTo(root, site);
	}
	return root;
}

// Creates the children on demand: most boxes are too narrow to be seen.
function childrenOf(node) {
	if (node.children)
		return node.children;
	const children = new Map();
	for (const site of node.sites) {
		const step = site.path[node.depth], isFunction = typeof step === "number";
		const key = isFunction ? keysOfFunctions[step] : step;
		if (key === undefined)
			continue;
		if (!children.has(key))
			children.set(key, newNode(node, isFunction ? nameOf(functions[step]) : step));
		const child = children.get(key);
		addTo(child, site);
		if (isFunction)
			child.frames.add(step);
	}
	node.children = [...children.values()];
	return node.children;
}

// ---- History: moments are [ms, bytes, blocks]

// Interpolates between moments. next is the index of the first moment after ms.
function between(moments, next, ms, which) {
	if (!next)
		return 0;
	if (next === moments.length)
		return moments[next - 1][which];
	const from = moments[next - 1], to = moments[next];
	return from[which] + (to[which] - from[which]) * (ms - from[0]) / (to[0] - from[0]);
}

function valueAt(moments, ms, which) {
	const next = moments.findIndex(moment => moment[0] > ms);
	return between(moments, next < 0 ? moments.length : next, ms, which);
}

// True if it is known which blocks were allocated in a range: only if it ends at the last report.
const knowsBirths = range => report.earlier !== undefined && range[1] === report.ms;

// Returns bytes and blocks that were allocated after a moment of report.earlier and are alive.
function bornAfter(site, ms) {
	const least = report.earlier.indexOf(ms) + 1, all = [0, 0], born = [0, 0];
	for (let i = 0; i < site.births.length; i += 3)
		for (let which = 0; which < 2; which++) {
			all[which] += site.births[i + 1 + which];
			born[which] += site.births[i] < least ? 0 : site.births[i + 1 + which];
		}
	// With sampling, births are those of the sampled blocks.
	return [site.bytes, site.count].map((sum, which) => sum * born[which] / (all[which] || 1));
}

const POINTS = 200;

// Returns the sum of several histories.
function sumOver(pasts) {
	let times = [...new Set(pasts.flatMap(moments => moments.map(moment => moment[0])))]
		.sort((a, b) => a - b);
	if (times.length > POINTS)
		times = Array.from({ length: POINTS }, (_, i) =>
			times[Math.round(i * (times.length - 1) / (POINTS - 1))]);
	const sums = times.map(ms => [ms, 0]);
	for (const moments of pasts) {
		let next = 0;
		for (const sum of sums) {
			while (next < moments.length && moments[next][0] <= sum[0])
				next++;
			sum[1] += between(moments, next, sum[0], 1);
		}
	}
	return sums;
}
