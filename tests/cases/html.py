# SPDX-License-Identifier: GPL-2.0-or-later
"""--format html: the page has the program's truth, and a browser draws it."""

import html
import http.server
import json
import os
import re
import shutil
import signal
import subprocess
import threading

from lib import Failure, Skip, each, timeout, wanted
from lib.http import listen, request, stop
from lib.process import PATIENCE

from .containers import copy_with_libraries
from .record import offline

BIG, SMALL = 1048576, 16

# Simulates a reader: JavaScript placed before the steps of a case; "seen" is returned as JSON.
READER = """
const pixels = () => {
	const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
	return new Set(new Uint32Array(data.buffer)).size;
};
const rows = () => [...document.querySelectorAll("#sites tbody tr")]
	.map(row => [...row.cells].map(cell => cell.textContent));
const names = () => rows().map(row => row[0].split(" ")[0]);
const boxes = () => drawn.map(box => box.node.label);
const lines = () => [...document.querySelectorAll(".head li")].map(item => item.textContent);
const texts = what => [...document.querySelectorAll(what)].map(item => item.textContent);
const type = text => {
	at("find").value = text;
	at("find").dispatchEvent(new Event("input"));
};
const turn = (id, value) => {
	at(id).value = value;
	at(id).dispatchEvent(new Event("change"));
};
const box = name => drawn.find(one => one.node.label === name);
const click = name => {
	const place = canvas.getBoundingClientRect(), found = box(name);
	canvas.dispatchEvent(new MouseEvent("click", { bubbles: true,
		clientX: place.left + found.x + found.width / 2,
		clientY: place.top + (found.row + 0.5) * BOX_HEIGHT }));
};
const row = name => [...document.querySelectorAll("#sites tbody tr")]
	.find(one => one.textContent.startsWith(name));
const drag = (from, to) => {
	const left = svg.getBoundingClientRect().left;
	const send = (target, kind, ms) => target.dispatchEvent(new PointerEvent(kind,
		{ bubbles: true, clientX: left + scale.x(ms) }));
	send(svg, "pointerdown", from);
	send(document, "pointermove", to);
	send(document, "pointerup", to);
};
"""
TELL = """
const told = document.createElement("pre");
told.id = "told";
told.textContent = JSON.stringify(seen);
document.body.append(told);
"""


def is_total(size, page):
    """True if the page says that this number of bytes is outstanding."""
    return re.search(rf"outstanding: (?:[^<]*\()?{size} bytes", page) is not None


def shows(path, size):
    return is_total(size, path.read_text(encoding="utf-8"))


def page_of(t, program, *options, until=1):
    """
    Returns the last page of a run of the leaking program that has this number of different moments.
    """
    path = t.tmp / "page"
    memleak = t.memleak("--format", "html", "--output", path, "-o", "0", *options, "-p",
                        str(program.pid), "0.2").ready()

    def wait_for(size):
        memleak.wait_for(f"{size} bytes in the page", lambda: shows(path, size), every=0.02)

    wait_for(0)
    for _ in range(until):
        truth = program.go()
        wait_for(truth.bytes)
    page = last_page(memleak, path)
    if memleak.code:
        raise Failure(f"exit code {memleak.code}: {memleak.notes!r}")
    return page, truth


def last_page(memleak, path):
    memleak.signal(signal.SIGINT)
    memleak.wait()
    memleak.aftermath()
    return path.read_text(encoding="utf-8")


def data_of(page):
    """Returns the three values that the charts are drawn from."""
    values = []
    for name in ("strings", "functions", "report"):
        found = re.search(f'<script type="application/json" id="{name}">(.*)</script>\n', page)
        values.append(json.loads(found.group(1)))
    return values


def browse(t, address, dark=False, seconds=0, width=1400):
    """Returns what the page printed in headless Chromium; seconds: for pages that wait."""
    if not shutil.which("chromium"):
        raise Skip("chromium is not installed")
    done = subprocess.run(
        ["chromium", "--headless", "--no-sandbox", "--disable-gpu",
         f"--window-size={width},1000",
         *(["--blink-settings=preferredColorScheme=0"] if dark else []),
         *([f"--virtual-time-budget={seconds * 1000}"] if seconds else []),
         f"--user-data-dir={t.tmp}/profile", "--dump-dom", address],
        capture_output=True, text=True, timeout=PATIENCE, check=False,
        env={**os.environ, "HOME": str(t.tmp)})
    found = re.search('<pre id="told">(.*?)</pre>', done.stdout, re.S)
    if not found:
        raise Failure(f"the page's script failed: {done.stderr[-500:]!r}")
    return json.loads(html.unescape(found.group(1)))


def seen_by_browser(t, page, steps, dark=False, width=1400):
    """Runs the steps of a reader, in JavaScript, and returns "seen"."""
    path = t.tmp / "looked-at.html"
    path.write_text(page.replace("</body>", f"<script>{READER}const seen = {{}};\n{steps}{TELL}"
                                 "</script></body>"), encoding="utf-8")
    return browse(t, path.as_uri(), dark, width=width)


def test_data(t):
    """Each site has bytes, count, frames and moments; basic facts are readable without scripts."""
    page, truth = page_of(t, t.program("leak"), until=2)
    strings, functions, report = data_of(page)
    found = {strings[functions[site["frames"][-1]][0]]: (site["count"], site["bytes"])
             for site in report["sites"]}
    if found != {name: numbers for (name, _), numbers in truth.sites.items()}:
        raise Failure(f"{found}, not {truth.sites}")
    for site in report["sites"]:
        names = [strings[functions[frame][0]] for frame in site["frames"]]
        if "main" not in names[:-2] or site["moments"][-1][1:] != [site["bytes"], site["count"]]:
            raise Failure(f"frames {names}, moments {site['moments']}")
        held = sorted({moment[1] for moment in site["moments"]})
        if held != [0, site["bytes"] // 2, site["bytes"]]:
            raise Failure(f"a site's moments are {held}")
        if names[site["start"]] != "main":
            raise Failure(f"the program begins with {names[site['start']:]}")
        wanted("blocks by age", sum(site["ages"][2::3]), site["count"])
    held = {moment[1] for moment in report["processes"][0]["moments"]}
    if not {truth.bytes // 2, truth.bytes} <= held:
        raise Failure(f"the process's moments are {held}")


def test_no_network(t):
    """The page loads nothing from elsewhere."""
    page, _ = page_of(t, t.program("leak"))
    if re.search(r"""\b(src|href|srcset|action|url)\s*[=(]""", page) or "@import" in page:
        raise Failure("the page asks for something")
    if "default-src 'none'" not in page or "connect-src" in page or "fetch" in page:
        raise Failure("nothing forbids the page to ask for something")


@timeout(180)
def test_browser(t):
    """Boxes, a chart and a table are drawn; search, zoom and selecting a site work."""
    page, truth = page_of(t, t.program("leak"), until=2)
    seen = seen_by_browser(t, page, """
seen.ready = document.documentElement.dataset.ready;
seen.rows = rows();
seen.boxes = boxes();
seen.pixels = pixels();
seen.dots = texts("#chart circle title");
seen.chart = at("chart-title").textContent;
seen.ages = [at("ages").hidden, texts("#ages .bar title"), at("sizes").hidden];
seen.no_more = [at("more").hidden, at("more").textContent];
state.rows = 1;
fillTable();
seen.more = [at("more").hidden, at("more").textContent, rows().length];
at("more").click();
seen.all = rows().length;
type("LEAK_SMALL");
seen.found = names();
type("");
click("leak_big");
seen.zoomed = [node.label, at("chart-title").textContent, names()];
at("out").click();
row("leak_small").click();
seen.stack = at("stack").textContent;
seen.chosen = at("chart-title").textContent;
""")
    names = [row[0].split()[0] for row in seen["rows"]]
    if seen["ready"] != "yes" or names != ["leak_big", "leak_small"]:
        raise Failure(f"{seen}")
    if seen["rows"][0][1:3] != ["10.0 MiB", "10"] or seen["rows"][1][1:3] != ["160 B", "10"]:
        raise Failure(f"the table is {seen['rows']}, not {truth.sites}")
    wanted("boxes", seen["boxes"], ["all", "main", "round_of_leaks", "leak_big"])
    wanted("no more rows", seen["no_more"], [True, ""])
    wanted("one more row", seen["more"], [False, "1 more function: show 1", 1])
    wanted("all rows", seen["all"], 2)
    if "all, at most 10.0 MiB at " not in seen["chart"]:
        raise Failure(f"the chart is {seen['chart']!r}")
    if seen["pixels"] < 3 or len(seen["dots"]) < 3:
        raise Failure(f"the pictures are {seen}")
    if seen["ages"][0] or not seen["ages"][2]:
        raise Failure(f"ages and sizes are {seen['ages']}")
    wanted("blocks by age", sum(int(text.split(" in ")[1].split()[0]) for text in seen["ages"][1]),
           truth.count)
    wanted("found", seen["found"], ["leak_small"])
    if seen["zoomed"][0] != "leak_big" or "leak_big" not in seen["zoomed"][1] or \
            seen["zoomed"][2] != ["leak_big"]:
        raise Failure(f"zoomed: {seen['zoomed']}")
    if "\u2192 leak_small programs/leak.c:" not in seen["stack"] or "leak_small" not in seen["chosen"]:
        raise Failure(f"the stack is {seen['stack']!r} below {seen['chosen']!r}")


@timeout(180)
def test_range(t):
    """Selecting a time range shows what was held at its end, and how much was added in it."""
    page, _ = page_of(t, t.program("leak"), until=2)
    seen = seen_by_browser(t, page, """
const held = bytes => scale.points.filter(point => point[1] === bytes).map(point => point[0]);
const [none, half, all] = [0, HALF, 2 * HALF].map(held);
drag(half[0], all[0]);
seen.later = [rows(), at("chart-title").textContent, at("ages").hidden];
drag(none.length ? none[0] : scale.first, half[half.length - 1]);
seen.earlier = rows();
if (none.length > 1) {
	drag(none[0], none[1]);
	seen.nothing = rows();
}
drag(half[0], half[0]);
seen.whole = [rows(), state.range];
""".replace("HALF", str(5 * (BIG + SMALL))))
    cells = [row[:4] for row in seen["later"][0]]
    wanted("cells", [row[1:] for row in cells],
           [["10.0 MiB", "10", "+5.00 MiB"], ["160 B", "10", "+80 B"]])
    told = "5.00 MiB \u2192 10.0 MiB (+5.00 MiB); below: outstanding at the end of the range, 10.0 MiB"
    if told not in seen["later"][1] or not seen["later"][2]:
        raise Failure(f"the range is {seen['later']}")
    wanted("earlier", [row[1:3] for row in seen["earlier"]], [["5.00 MiB", "5"], ["80 B", "5"]])
    wanted("nothing", seen.get("nothing", []), [])
    wanted("whole", [row[1] for row in seen["whole"][0]], ["10.0 MiB", "160 B"])
    wanted("range", seen["whole"][1], None)


@timeout(180)
def test_narrow(t):
    """In a narrow window the table, which has most columns with a proof, fits into the page."""
    page, _ = page_of(t, t.program("leak"), "--prove")
    seen = seen_by_browser(t, page, """
const panel = at("sites").parentNode;
seen.widths = [innerWidth, panel.scrollWidth - panel.clientWidth, rows()[0].length];
""", width=800)
    wanted("window, overflow and columns", seen["widths"], [800, 0, 9])


@timeout(180)
def test_allocated_in_range(t):
    """
    A range that ends at the last report shows what was allocated in it and is alive, not the
    difference of totals; a range that ends earlier says that it cannot.
    """
    page, _ = page_of(t, t.program("births"), until=2)
    seen = seen_by_browser(t, page, """
const held = bytes => scale.points.filter(point => point[1] === bytes).map(point => point[0]);
const [half, all] = [held(16000), held(22000)];
drag(half[0], scale.last);
seen.late = [rows(), boxes(), at("chart-title").textContent];
drag(half[0], all[0]);
seen.difference = [all.length > 1, rows(), at("chart-title").textContent];
drag(scale.first, scale.last);
seen.whole = rows();
""")
    rows, boxes, title = seen["late"]
    wanted("allocated late", [[row[0].split()[0], *row[1:4]] for row in rows],
           [["leak_both", "8.79 KiB", "3", "0 B"], ["leak_late", "7.81 KiB", "4", "+7.81 KiB"]])
    if "leak_early" in boxes or \
            "below: allocated in this range and still outstanding, 16.6 KiB" not in title:
        raise Failure(f"the range shows {boxes}, {title!r}")
    later, rows, title = seen["difference"]
    wanted("a later report", later, True)
    wanted("held", [[row[0].split()[0], *row[1:4]] for row in rows],
           [["leak_both", "11.7 KiB", "4", "0 B"], ["leak_late", "7.81 KiB", "4", "+7.81 KiB"],
            ["leak_early", "1.95 KiB", "2", "\u22121.95 KiB"]])
    if ("outstanding at the end of the range" not in title or
            "extend it to the last report" not in title):
        raise Failure(f"the range is {title!r}")
    wanted("whole", [[row[0].split()[0], *row[1:3]] for row in seen["whole"]],
           [["leak_both", "11.7 KiB", "4"], ["leak_late", "7.81 KiB", "4"],
            ["leak_early", "1.95 KiB", "2"]])


@timeout(180)
def test_youngest_tenth(t):
    """The last tenth of the timeline is grey, light or dark; it is the same for a late site."""
    page, _ = page_of(t, t.program("leak"), until=2)
    seen = seen_by_browser(t, page, """
const band = () => svg.querySelector(".young");
const edges = () => {
	const left = Number(band().getAttribute("x")), width = Number(band().getAttribute("width"));
	return [left, left + width].map(px =>
		Math.round(1000 * (scale.ms(px) - scale.first) / (scale.last - scale.first)));
};
seen.all = edges();
seen.texts = [texts("#chart .young title"), texts("#chart text")];
seen.fills = [getComputedStyle(band()).fill];
at("theme").click();
seen.fills.push(getComputedStyle(band()).fill);
const late = report.sites[0];
late.moments = [[scale.last - (scale.last - scale.first) / 20, 0, 0], [scale.last, 1, 1]];
pick("late", [late], late);
seen.late = edges();
const begin = report.ms - 1000;
late.moments = [[begin, 0, 0], [begin + 100, 1, 1]];
report.sites.forEach(site => site.moments = late.moments);
pick("ended", [late], late);
seen.ended = [scale.last - begin, document.querySelectorAll("#chart .young").length];
""")
    wanted("thousandths of the timeline", seen["all"], [900, 1000])
    wanted("thousandths of a late site's timeline", seen["late"], [0, 1000])
    wanted("a chart that ends before the last tenth", seen["ended"], [100, 0])
    wanted("fills", seen["fills"], ["rgb(91, 101, 112)", "rgb(154, 164, 174)"])
    if "last tenth of the timeline may still be freed" not in seen["texts"][0][0] or \
            "may still be freed" not in seen["texts"][1]:
        raise Failure(f"the words are {seen['texts']}")


@timeout(180)
def test_search(t):
    """A search says which percentage of the shown bytes matched, also with a range of time."""
    page, truth = page_of(t, t.program("sizes"), until=2)
    seen = seen_by_browser(t, page, """
seen.before = at("found").textContent;
type("Leak_medium");
seen.all = at("found").textContent;
drag(scale.first, scale.points.filter(point => point[1] === FIRST).pop()[0]);
seen.range = at("found").textContent;
type("leak_");
seen.every = at("found").textContent;
type("no such function");
seen.none = at("found").textContent;
seen.amounts = [1023, 1048000, 1048570].map(size);
""".replace("FIRST", str(truth.bytes - 50 * 1000)))
    wanted("amounts", seen["amounts"], ["1023 B", "1023 KiB", "1.00 MiB"])
    wanted("before", seen["before"], "")
    wanted("all", seen["all"], "2 of 5 sites, 68.4 KiB, matched 25.8 %")
    wanted("range", seen["range"], "1 of 5 sites, 19.5 KiB, matched 9.0 %")
    wanted("every", seen["every"].split(", ", 1)[1], "216 KiB, matched 100.0 %")
    wanted("none", seen["none"], "0 of 5 sites, 0 B, matched 0.0 %")


@timeout(180)
def test_processes(t):
    """
    Each process has a name and can be shown alone; a function in both is one row that expands.
    """
    programs = [t.program("leak"), t.program("leak")]
    path = t.tmp / "page"
    path.touch()
    memleak = t.memleak("--format", "html", "--output", path, "-o", "0", "-p",
                        ",".join(str(program.pid) for program in programs), "0.2").ready()
    total = sum(program.go().bytes for program in programs)
    memleak.wait_for("both leaks", lambda: shows(path, total), every=0.02)
    names = [f"leak ({program.pid})" for program in programs]
    seen = seen_by_browser(t, last_page(memleak, path), """
seen.rows = rows();
seen.boxes = boxes();
seen.listed = texts("#process option");
row("leak_big").click();
seen.open = rows();
seen.stack = at("stack").textContent;
turn("process", [...at("process").options].find(option => option.text === NAME).value);
seen.alone = [rows(), boxes(), at("chart-title").textContent, at("found").textContent];
turn("process", "");
at("inverted").click();
seen.inverted = boxes();
at("inverted").click();
at("folded").click();
seen.unfolded = boxes();
""".replace("NAME", json.dumps(names[0])))
    wanted("rows", [row[:1] + row[2:4] for row in seen["rows"]],
           [[f"{name} programs/leak.c:{line} [leak] (2 paths)", *numbers] for name, line, numbers in
            (("leak_big", seen["rows"][0][0].split(":")[1].split()[0], ["10.0 MiB", "10"]),
             ("leak_small", seen["rows"][1][0].split(":")[1].split()[0], ["160 B", "10"]))])
    wanted("owners", sorted(seen["rows"][0][1].split(", ")), sorted(names))
    wanted("listed", seen["listed"][0], "all processes")
    wanted("listed", sorted(seen["listed"][1:]), sorted(names))
    if not set(names) <= set(seen["boxes"]) or seen["boxes"].count("leak_big") != 2:
        raise Failure(f"the boxes are {seen['boxes']}")
    wanted("opened", sorted(row[1] for row in seen["open"][1:3]), sorted(names))
    if not re.fullmatch(r"programs/leak\.c:\d+, called by round_of_leaks", seen["open"][1][0]):
        raise Failure(f"a path is {seen['open'][1]}")
    if not any(f"of {name}" in seen["stack"] for name in names):
        raise Failure(f"the stack is {seen['stack']!r}")
    rows, boxes, chart, found = seen["alone"]
    wanted("alone", [row[1:4] for row in rows], [[names[0], "5.00 MiB", "5"], [names[0], "80 B", "5"]])
    if names[0] not in boxes or names[1] in boxes or names[0] not in chart or "2 of 4" not in found:
        raise Failure(f"alone: {seen['alone']}")
    wanted("inverted", seen["inverted"][:4], ["all", "leak_big", "round_of_leaks", "main"])
    if "_start" in seen["boxes"] or "_start" not in seen["unfolded"]:
        raise Failure(f"folded {seen['boxes']}, whole {seen['unfolded']}")


@timeout(180)
def test_folded(t):
    """Frames within the standard library are folded into one box and line, unless all are shown."""
    path = t.tmp / "page"
    path.touch()
    program = t.program("unwind_cxx", "container")
    memleak = t.memleak("--format", "html", "--output", path, "-o", "0", "-p", str(program.pid),
                        "0.2").ready()
    program.go()
    memleak.wait_for("a map in the page", lambda: '"fill_map"' in path.read_text(encoding="utf-8"),
                     every=0.02)
    seen = seen_by_browser(t, last_page(memleak, path), """
seen.folded = boxes();
row("fill_map").click();
[...document.querySelectorAll("tr.path")].pop().click();
seen.stack = at("stack").textContent;
at("folded").click();
seen.whole = boxes();
""")
    inner = [name for name in seen["whole"] if name.startswith("std::")]
    kept = [name for name in seen["folded"] if name.startswith("std::")]
    if "\u2026 std" not in seen["folded"] or len(kept) >= len(inner):
        raise Failure(f"folded {seen['folded']}, whole {seen['whole']}")
    if not re.search(r"\u2026 [0-9]+ frames of std", seen["stack"]):
        raise Failure(f"the stack is {seen}")


@timeout(180)
@each("shown", "not_wanted", "chroot")
def test_source(t, way):
    """
    --source adds the source line of a frame to its stack and box, unless the process has another
    root folder: its paths then name other files.
    """
    apart = {}
    if way == "chroot":
        apart = {"path": "/program", "wrapper": ("chroot", t.tmp / "root")}
        (t.tmp / "root").mkdir()
        copy_with_libraries(t.file_of("leak"), t.tmp / "root")
    page, _ = page_of(t, t.program("leak", **apart),
                      *([] if way == "not_wanted" else ["--source"]))
    if ("/* LEAK */" in page) != (way == "shown"):
        raise Failure(f"{way}: the page has source lines where it should not, or none")
    seen = seen_by_browser(t, page, """
row("leak_big").click();
seen.stack = at("stack").textContent.split("\\n");
seen.box = describe(box("leak_big").node);
""")
    below = seen["stack"][1 + [line.startswith("\u2192 leak_big") for line in
                               seen["stack"]].index(True)]
    text = "return keep(malloc(BIG)); /* LEAK */"
    wanted("a line below the frame", below == "        " + text, way == "shown")
    wanted("a line of the box", seen["box"].endswith("\u2014 " + text), way == "shown")


@timeout(180)
def test_hostile_names(t):
    """A file name with markup is shown as text and has no other effect."""
    name = "<img src=x onerror=document.title=1>&lt;\x1b[2J"
    path = t.tmp / name
    shutil.copy(t.file_of("leak"), path)
    page, _ = page_of(t, t.program("leak", path=path))
    if "<img" in page or "\x1b" in page:
        raise Failure("the name is in the page as it is")
    seen = seen_by_browser(t, page, """
seen.rows = rows();
seen.processes = processes;
Object.assign(seen, { title: document.title, scripts: document.scripts.length,
	images: document.images.length, head: document.querySelector("h1").textContent });
""")
    if seen["images"] or seen["scripts"] != 5 or not seen["title"].startswith("memleak: <img"):
        raise Failure(f"{seen}")
    if "<img src=x onerror=document.title=1>&lt;\\x1b[2J" not in seen["rows"][0][0]:
        raise Failure(f"the rows are {seen['rows']}")
    if "<img src=x oner" not in seen["head"] or "<img src=x oner" not in seen["processes"][0]:
        raise Failure(f"the process is {seen['head']!r}, {seen['processes']}")


@timeout(180)
@each("light", "dark")
def test_proof(t, colours):
    """Lost blocks come first, with a colour and a filter; the others show their holders."""
    path = t.tmp / "page"
    path.touch()
    program = t.program("prove_shapes", "tree_that_was_cut")
    memleak = t.memleak("--prove", "--format", "html", "--output", path, "-o", "0", "-p",
                        str(program.pid), "0.2").ready()
    program.go()
    memleak.wait_for("a loss in the page", lambda: " has lost " in
                     path.read_text(encoding="utf-8"), every=0.02)
    page = last_page(memleak, path)
    program.finish()
    seen = seen_by_browser(t, page, """
const wasDark = matchMedia("(prefers-color-scheme: dark)").matches;
const shade = () => getComputedStyle(document.body).backgroundColor;
seen.shades = [wasDark, shade()];
at("theme").click();
seen.shades.push(shade());
seen.rows = rows();
document.querySelectorAll("#sites th button")[1].click();
seen.largest = names();
seen.lines = lines();
document.querySelector(".head .lost").click();
seen.proof = at("stack").textContent;
zoom(root);
seen.tones = drawn.map(box => [box.node.label, (box.node.tones.lost || [0])[0]]);
at("lost").click();
seen.lost = [rows(), boxes(), at("found").textContent];
seen.kept = document.querySelectorAll("#sites td.lost").length;
at("lost").click();
row("tree_kept").click();
seen.stack = at("stack").textContent;
""", colours == "dark")
    shades = ["rgb(251, 251, 250)", "rgb(21, 24, 28)"]
    is_dark = colours == "dark"
    wanted("shades", seen["shades"], [is_dark, shades[is_dark], shades[not is_dark]])
    node = seen["rows"][0]
    if not node[0].startswith("cut_node ") or seen["largest"][0] == "cut_node":
        raise Failure(f"the order is {seen['rows']}, and by size {seen['largest']}")
    if not re.fullmatch(r"✗ a leak is proven: cut_node .* has lost 1 block \(\d+ bytes\), and with it "
                        r"2 more \(96 bytes\).*", seen["lines"][0]):
        raise Failure(f"the lines are {seen['lines']}")
    if f"definite 1 block ({node[1]}); lost 1 block ({node[1]}), and with them 2 blocks (96 B)" \
            not in seen["proof"]:
        raise Failure(f"the chosen loss shows {seen['proof']!r}")
    rows, boxes, found = seen["lost"]
    names = [row[0].split()[0] for row in rows]
    if sorted(names) != ["cut_leaf", "cut_node"] or seen["kept"] != 2 or "3 of" not in found:
        raise Failure(f"what is lost: {rows}, {found!r}")
    if "tree_kept" in boxes or not {"cut_leaf", "cut_node"} <= set(boxes):
        raise Failure(f"what is lost: {boxes}")
    tones = dict(seen["tones"])
    if tones["tree_kept"] or not tones["cut_leaf"] == 96 < tones["all"]:
        raise Failure(f"the colours are of {tones}")
    kept = next(row for row in seen["rows"] if row[0].startswith("tree_kept"))
    if "held by held " not in seen["stack"] or not kept[4].startswith("held "):
        raise Failure(f"the stack is {seen['stack']!r}, the row {kept}")


@timeout(180)
def test_peak(t):
    """The peak is shown beside the current state; and sizes, if blocks are listed."""
    program = t.program("leak")
    path = t.tmp / "page"
    path.touch()
    memleak = t.memleak("--format", "html", "--output", path, "--peak", "-a", "-o", "0", "-p",
                        str(program.pid), "0.2").ready()
    program.go()
    program.go()
    memleak.wait_for("the peak", lambda: shows(path, 10 * (BIG + SMALL)), every=0.02)
    sizes = seen_by_browser(t, path.read_text(encoding="utf-8"), """
seen.sizes = texts("#sizes .bar title").filter(text => !text.includes(" 0 B in "));
""")["sizes"]
    wanted("sizes", sizes, ["from 16 B to 32 B: 160 B in 10 blocks",
                            "from 1.00 MiB to 2.00 MiB: 10.0 MiB in 10 blocks"])
    program.go()
    memleak.wait_for("nothing", lambda: shows(path, 0), every=0.02)
    seen = seen_by_browser(t, last_page(memleak, path), """
seen.now = rows().map(row => row[1]);
at("peak").click();
seen.peak = [rows(), boxes()];
seen.facts = texts(".facts li");
""")
    wanted("now", seen["now"], ["0 B", "0 B"][:len(seen["now"])])
    wanted("peak", [row[1:3] for row in seen["peak"][0]], [["10.0 MiB", "10"], ["160 B", "10"]])
    if "leak_big" not in seen["peak"][1] or not seen["facts"][0].startswith("peak: 10.0 MiB in 20 "):
        raise Failure(f"at the peak: {seen}")


def test_births_recorded(t):
    """A page made from a recording knows as much about the births of blocks as the page of the run."""
    recording = t.tmp / "recording"
    page, _ = page_of(t, t.program("births"), "--record", recording, until=2)
    of_recording = offline(t, "report", "--format", "html", recording).decode()
    births, recorded = [re.findall(r'"(?:births|earlier)":\[[0-9,]*\]', text)
                        for text in (page, of_recording)]
    if len(births) < 4:
        raise Failure(f"the page of the run has {births}")
    wanted("births of the recording", recorded, births)


@timeout(180)
def test_diff(t):
    """A diff shows what has grown and what is gone, in colours, also without processes."""
    program = t.program("leak")
    recording = t.tmp / "recording"
    memleak = t.attach(program, "--record", recording, "-o", "0", interval="0.2")
    moments = []
    for _ in range(3):
        program.go()
        moments.append(memleak.fresh_report()["elapsed_ns"] / 1e9)
    memleak.stop()
    pages = [offline(t, "diff", "--format", "html", f"{recording}@{moments[before]}",
                     f"{recording}@{moments[after]}").decode()
             for before, after in ((0, 1), (1, 2))]
    steps = """
seen.rows = rows();
seen.title = document.querySelector("h1").textContent;
const root_tones = Object.keys(root.tones);
seen.tones = [root_tones, root.values[2], describe(root)];
seen.hidden = at("chart").hidden;
"""
    kernel = re.sub(r'"process":\d+,', "", pages[0])
    kernel = re.sub(r'"processes":\[\{.*?\}\]', '"processes":[]', kernel)
    grown, gone, of_kernel = [seen_by_browser(t, page, steps) for page in (*pages, kernel)]
    wanted("without processes, as of the kernel", of_kernel, grown)
    wanted("grown", [row[1:] for row in grown["rows"]],
           [["5.00 MiB", "10.0 MiB", "+5.00 MiB", "grown"], ["80 B", "160 B", "+80 B", "grown"]])
    wanted("gone", [row[1:] for row in gone["rows"]],
           [["10.0 MiB", "0 B", "\u221210.0 MiB", "gone"], ["160 B", "0 B", "\u2212160 B", "gone"]])
    wanted("tones", (grown["tones"][0], gone["tones"][0]), (["more"], ["less"]))
    if "shrunk by 10.0 MiB" not in gone["tones"][2] or not gone["hidden"] or \
            not gone["title"].startswith("From "):
        raise Failure(f"{gone}")


class Between(http.server.BaseHTTPRequestHandler):
    """Passes memleak's pages to a browser, with the steps of a reader added."""

    server: "Server"

    def log_message(self, *args):  # pylint: disable=arguments-differ
        pass

    def answer(self, with_body):
        answer = request(self.server.behind, self.path, self.command)
        self.send_response(answer.status)
        for name in ("Content-Type", "ETag", "Content-Security-Policy"):
            if answer.headers[name]:
                self.send_header(name, answer.headers[name])
        self.end_headers()
        if with_body:
            self.wfile.write(answer.body.replace(b"</body>", self.server.steps + b"</body>"))

    def do_HEAD(self):  # pylint: disable=invalid-name
        self.server.heads += 1
        if self.server.heads == 2:
            self.server.change()
        self.answer(False)

    def do_GET(self):  # pylint: disable=invalid-name
        self.server.pages += self.path == "/"
        self.answer(True)


class Server(http.server.ThreadingHTTPServer):
    def __init__(self, behind, steps, change):
        super().__init__(("127.0.0.1", 0), Between)
        self.behind, self.change = behind, change
        self.steps = f"<script>{steps}</script>".encode()
        self.heads = self.pages = 0


@timeout(180)
def test_live(t):
    """With --listen, the page loads newer reports by itself, and keeps the reader's selection."""
    program = t.program("leak")
    memleak, address = listen(t, program, "-o", "0")
    first = program.go()

    def served(size):
        return lambda: is_total(size, request(address, "/").body.decode())

    def change():
        second = program.go()
        memleak.wait_for("the second leak", served(second.bytes), every=0.02)

    memleak.wait_for("the first leak", served(first.bytes), every=0.02)
    answer = request(address, "/")
    wanted("type", answer.headers["Content-Type"], "text/html; charset=utf-8")
    for policy in ("default-src 'none'", "connect-src 'self'", "frame-ancestors 'none'"):
        if policy not in answer.headers["Content-Security-Policy"]:
            raise Failure(f"the policy is {answer.headers['Content-Security-Policy']}")
    wanted("without its name", request(address, "/", headers={"Host": "evil.example"}).status, 421)
    server = Server(address, READER + """
const seen = { find: at("find").value, isInverted: state.inverted, rows: rows(), boxes: boxes() };
if (!seen.find) {
	type("leak_big");
	at("inverted").click();
}
""" + TELL, change)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        seen = browse(t, f"http://127.0.0.1:{server.server_port}/", seconds=20)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    if server.pages < 2:
        raise Failure(f"{server.pages} pages and {server.heads} heads were asked for")
    wanted("chosen", (seen["find"], seen["isInverted"]), ("leak_big", True))
    wanted("rows", [row[1:3] for row in seen["rows"]], [["10.0 MiB", "10"]])
    wanted("boxes", seen["boxes"][:3], ["all", "leak_big", "round_of_leaks"])
    stop(memleak)


def test_resident_memory(t):
    """A page shows the parts of resident memory over time, stacked."""
    path = t.tmp / "page"
    program = t.program("keeps", "leak")
    memleak = t.memleak("--format", "html", "--output", path, "-p", str(program.pid), "0.1").ready()
    memleak.wait_for("the first moment", lambda: path.exists() and
                     '"rss":[[' in path.read_text(encoding="utf-8"), every=0.1)
    program.send()
    program.go()

    def shows_freed():
        moments = data_of(path.read_text(encoding="utf-8"))[2]["rss"]
        return moments[-1][2] - moments[0][2] > 30 << 20

    memleak.wait_for("the freed memory", shows_freed, every=0.1)
    page = last_page(memleak, path)
    moments = data_of(page)[2]["rss"]
    live, kept = moments[0][1] - moments[-1][1], moments[-1][2] - moments[0][2]
    if not 30 << 20 < kept < 40 << 20 or not 30 << 20 < live < 40 << 20:
        raise Failure(f"three quarters of 49 MiB are freed: {moments}")
    seen = seen_by_browser(t, page, """
seen.areas = [...document.querySelectorAll("#rss polygon")].map(area => area.getAttribute("class"));
seen.legend = document.querySelectorAll("#rss span").length;
seen.hidden = document.getElementById("rss").hidden;
""")
    wanted("areas", seen["areas"][:2], ["part0", "part1"])
    wanted("legend", seen["legend"], len(seen["areas"]))
    wanted("hidden", seen["hidden"], False)
