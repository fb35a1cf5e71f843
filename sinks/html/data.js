// SPDX-License-Identifier: GPL-2.0-or-later
// What an HTML report knows: the JSON that stands before this in the page, as words and as a tree of
// callers. Names come from hostile programs: they become text of elements, never markup.
"use strict";

const WORDS = {
	unknown: "not known yet", flat: "flat", steady: "grows steadily", steps: "grows in steps",
	levelled: "levelled off", shrinks: "shrinks",
};

const at = id => document.getElementById(id);
const read = id => JSON.parse(at(id).textContent);
const strings = read("strings"), functions = read("functions"), report = read("report");
const sites = report.sites;

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
	while (value >= 1024 && unit < units.length - 1) {
		value /= 1024;
		unit++;
	}
	const digits = unit && value < 10 ? 2 : unit && value < 100 ? 1 : 0;
	return (bytes < 0 ? "\u2212" : "") + value.toFixed(digits) + " " + units[unit];
}

function time(ms) {
	if (ms < 60000)
		return (ms / 1000).toFixed(ms % 1000 && ms < 10000 ? 1 : 0) + " s";
	if (ms < 3600000)
		return Math.floor(ms / 60000) + " min " + Math.round(ms % 60000 / 1000) + " s";
	return Math.floor(ms / 3600000) + " h " + Math.round(ms % 3600000 / 60000) + " min";
}

const blocks = count => number(count) + (count === 1 ? " block" : " blocks");
const tail = (path, parts) => path.split("/").slice(-parts).join("/");
// Thousandths of bytes per second; a slow leak has not even one.
const speed = rate => (rate > 0 ? "+" : "") +
	(Math.abs(rate) < 10000 ? rate / 1000 + " B" : size(rate / 1000)) + "/s";
const rateOf = site => site.rate === null ? "" : speed(site.rate);
const score = site => site.score === null ? "" : (site.score / 1000).toFixed(2);

function moduleOf(entry) {
	const module = strings[entry[3]];
	return !module ? "" : module[0] === "[" ? module : "[" + tail(module, 1) + "]";
}

// A name that begins with + is a place in a module.
function nameOf(entry) {
	const name = strings[entry[0]];
	return name[0] === "+" ? tail(strings[entry[3]], 1) + name : name;
}

function placeOf(entry) {
	const file = strings[entry[1]];
	return file ? tail(file, 2) + (entry[2] ? ":" + entry[2] : "") : "";
}

const line = entry => [nameOf(entry), placeOf(entry),
	strings[entry[0]][0] === "+" ? "" : moduleOf(entry), entry[4] ? "(inlined)" : ""]
	.filter(part => part).join(" ");
const blamed = site => site.frames.length ? functions[site.frames[site.culprit]] : null;
const titleOf = site => site.objects || (blamed(site) ? line(blamed(site)) : "stack not known") +
	(site.through === undefined ? "" : ", through " + nameOf(functions[site.frames[site.through]]));

const partsOf = site => site.score === null ? "" : "of which " + ["growth", "unfreed", "risen"]
	.map((name, i) => name + " " + (site.parts[i] === null ? "?" : (site.parts[i] / 1000).toFixed(2)))
	.join(", ");

function sentence(site) {
	const parts = [];
	if (site.rate !== null && site.tendency !== "unknown")
		parts.push((WORDS[site.tendency] || site.tendency) + (site.since_ms ? " for " +
			time(site.since_ms) : "") + " (" + rateOf(site) + ")");
	parts.push(size(site.bytes) + " in " + blocks(site.count));
	if (site.seen)
		parts.push(site.freed ? number(site.freed) + " of " + number(site.seen) +
			" blocks that were seen were freed" : "none was seen to be freed");
	if (score(site))
		parts.push("score " + score(site));
	return parts.join("; ");
}

// ---- The tree of callers: root first, functions of one name and module are one

function newNode(parent, frame) {
	return { parent, frame, depth: parent ? parent.depth + 1 : 0, children: new Map(),
		values: [0, 0, 0], hot: [0, 0, 0], frames: new Set(), sites: [] };
}

const grows = site => site.tendency === "steady" || site.tendency === "steps";

function addTo(node, site) {
	[site.bytes, site.count, grows(site) ? site.rate : 0].forEach((value, metric) => {
		node.values[metric] += value;
		node.hot[metric] += site.suspect ? value : 0;
	});
}

function buildTree() {
	const names = new Map();
	const keys = functions.map(entry => {
		const name = nameOf(entry) + "\n" + entry[3];
		if (!names.has(name))
			names.set(name, names.size);
		return names.get(name);
	});
	const root = newNode(null, -1);
	for (const site of sites) {
		let node = root;
		addTo(node, site);
		for (const frame of site.frames) {
			let child = node.children.get(keys[frame]);
			if (!child) {
				child = newNode(node, frame);
				node.children.set(keys[frame], child);
			}
			child.frames.add(frame);
			addTo(child, site);
			node = child;
		}
		node.sites.push(site);
		site.leaf = node;
	}
	return root;
}

function sitesBelow(node) {
	const found = [], todo = [node];
	while (todo.length) {
		const next = todo.pop();
		for (const site of next.sites)
			found.push(site);
		for (const child of next.children.values())
			todo.push(child);
	}
	return found;
}

