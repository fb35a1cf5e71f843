// SPDX-License-Identifier: GPL-2.0-or-later
// Keeps a page from --listen up to date: asks the server for a newer report every two seconds, and
// loads it with the current selections.

const EVERY_MS = 2000, KEPT = "memleak";
const live = element("label");
let tag = null;

function keep() {
	sessionStorage.setItem(KEPT, JSON.stringify({ state: { ...state, open: [...state.open] },
		process: processes[state.process], isToEnd: state.range?.[1] === report.ms,
		path: ancestors(node).slice(1).map(one => one.label), site: stacked && stacked.id,
		scheme: document.documentElement.style.colorScheme }));
}

function restore(kept) {
	const process = processes.indexOf(kept.process);
	Object.assign(state, kept.state, { open: new Set(kept.state.open),
		peak: kept.state.peak && report.peak !== undefined, process: process < 0 ? "" : String(process) });
	if (kept.isToEnd)
		state.range = snapped([state.range[0], report.ms]);
	document.documentElement.style.colorScheme = kept.scheme;
	for (const id of ["inverted", "folded", "lost", "peak"])
		at(id).checked = state[id];
	at("metric").selectedIndex = state.metric;
	at("process").value = state.process;
	at("find").value = state.find;
	choose();
	let to = root;
	for (const label of kept.path)
		to = childrenOf(to).find(child => child.label === label) || to;
	if (to !== root)
		zoom(to);
	const site = shown.find(one => one.id === kept.site);
	if (site)
		pick(titleOf(site), [site], site);
	if (state.find)
		search(state.find);
}

async function ask() {
	if (document.hidden || brush !== null || !live.firstChild.checked)
		return;
	try {
		const answer = await fetch(location.pathname, { method: "HEAD", cache: "no-store" });
		const newer = answer.headers.get("ETag");
		live.lastChild.textContent = " live";
		if (tag && newer && newer !== tag) {
			keep();
			location.reload();
		}
		tag = tag || newer;
	} catch {
		live.lastChild.textContent = " live: memleak has ended, this is its last report";
	}
}

live.append(element("input"), " live");
live.firstChild.type = "checkbox";
live.firstChild.checked = true;
live.firstChild.id = "live";
at("bar").append(live);
const kept = sessionStorage.getItem(KEPT);
sessionStorage.removeItem(KEPT);
if (kept)
	restore(JSON.parse(kept));
ask();
setInterval(ask, EVERY_MS);
