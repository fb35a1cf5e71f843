# SPDX-License-Identifier: GPL-2.0-or-later
"""--format html: the page says what the program holds, and a browser draws it."""

import html
import json
import os
import re
import shutil
import signal
import subprocess

from lib import Failure, Skip, timeout

# Run at the end of the page: what a reader would see and do, told as JSON.
LOOK = """
const pixels = () => {
	const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
	return new Set(new Uint32Array(data.buffer)).size;
};
const rows = () => [...document.querySelectorAll("#sites tbody tr")]
	.map(row => [...row.cells].map(cell => cell.textContent));
const type = text => {
	at("find").value = text;
	at("find").dispatchEvent(new Event("input"));
};
const click = name => {
	const box = drawn.find(one => labelOf(one.node) === name);
	const place = canvas.getBoundingClientRect();
	canvas.dispatchEvent(new MouseEvent("click", { bubbles: true,
		clientX: place.left + box.x + box.width / 2,
		clientY: place.top + (box.row + 0.5) * BOX_HEIGHT }));
};
const seen = { ready: document.documentElement.dataset.ready, title: document.title,
	scripts: document.scripts.length, images: document.images.length, rows: rows(),
	boxes: drawn.map(box => labelOf(box.node)), pixels: pixels(),
	chart: at("chart-title").textContent, dots: document.querySelectorAll("#chart circle").length };
type("LEAK_SMALL");
seen.found = rows();
type("");
click("leak_big");
seen.zoomed = [state.node.frame >= 0 && labelOf(state.node), at("chart-title").textContent];
document.querySelector("#sites tbody tr").click();
seen.stack = at("stack").textContent;
const told = document.createElement("pre");
told.id = "told";
told.textContent = JSON.stringify(seen);
document.body.append(told);
"""


def page_of(t, program, *options, until=1):
    """The last page of a run that lets the program leak; it has so many different moments."""
    path = t.tmp / "page"
    memleak = t.memleak("--format", "html", "--output", path, "-o", "0", *options, "-p",
                        str(program.pid), "0.2").ready()

    def wait_for(size):
        memleak.wait_for(f"{size} bytes in the page", lambda: f"outstanding: {size} bytes" in
                         path.read_text(encoding="utf-8"), every=0.02)

    wait_for(0)
    for _ in range(until):
        truth = program.go()
        wait_for(truth.bytes)
    memleak.signal(signal.SIGINT)
    memleak.wait()
    memleak.aftermath()
    if memleak.code:
        raise Failure(f"exit code {memleak.code}: {memleak.notes!r}")
    return path.read_text(encoding="utf-8"), truth


def data_of(page):
    """The three values that the pictures are drawn from."""
    values = []
    for name in ("strings", "functions", "report"):
        found = re.search(f'<script type="application/json" id="{name}">(.*)</script>\n', page)
        values.append(json.loads(found.group(1)))
    return values


def seen_by_browser(t, page):
    """What LOOK tells of the page in headless Chromium."""
    if not shutil.which("chromium"):
        raise Skip("chromium is not installed")
    path = t.tmp / "looked-at.html"
    path.write_text(page.replace("</body>", f"<script>{LOOK}</script></body>"), encoding="utf-8")
    done = subprocess.run(
        ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1400,1000",
         f"--user-data-dir={t.tmp}/profile", "--dump-dom", path.as_uri()],
        capture_output=True, text=True, timeout=60, check=False,
        env={**os.environ, "HOME": str(t.tmp)})
    found = re.search('<pre id="told">(.*?)</pre>', done.stdout, re.S)
    if not found:
        raise Failure(f"the page's script failed: {done.stderr[-500:]!r}")
    return json.loads(html.unescape(found.group(1)))


def test_data(t):
    """Each site with bytes, count, frames and its moments; facts that need no script."""
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


def test_no_network(t):
    """Nothing in the page is asked from elsewhere."""
    page, _ = page_of(t, t.program("leak"))
    if re.search(r"""\b(src|href|srcset|action|url)\s*[=(]""", page) or "@import" in page:
        raise Failure("the page asks for something")
    if "default-src 'none'" not in page:
        raise Failure("nothing forbids the page to ask for something")


@timeout(180)
def test_browser(t):
    """Boxes, a chart and a table are drawn; search, zoom and choice of a site work."""
    page, truth = page_of(t, t.program("leak"), until=2)
    seen = seen_by_browser(t, page)
    names = [row[0].split()[0] for row in seen["rows"]]
    if seen["ready"] != "yes" or names != ["leak_big", "leak_small"]:
        raise Failure(f"{seen}")
    if seen["rows"][0][1:3] != ["10.0 MiB", "10"] or seen["rows"][1][1:3] != ["160 B", "10"]:
        raise Failure(f"the table is {seen['rows']}, not {truth.sites}")
    if not {"all", "main", "round_of_leaks", "leak_big"} <= set(seen["boxes"]):
        raise Failure(f"the boxes are {seen['boxes']}")
    if "leak_small" in seen["boxes"] or seen["pixels"] < 3 or seen["dots"] < 3:
        raise Failure(f"the pictures are {seen}")
    if [row[0].split()[0] for row in seen["found"]] != ["leak_small"]:
        raise Failure(f"found: {seen['found']}")
    if seen["zoomed"][0] != "leak_big" or "leak_big" not in seen["zoomed"][1]:
        raise Failure(f"zoomed: {seen['zoomed']}")
    if "leak_big leak.c:" not in seen["stack"].splitlines()[1].replace("programs/", ""):
        raise Failure(f"the stack is {seen['stack']!r}")


@timeout(180)
def test_hostile_names(t):
    """A file whose name is markup: it is shown, and nothing else happens."""
    name = "<img src=x onerror=document.title=1>&lt;\x1b[2J"
    path = t.tmp / name
    shutil.copy(t.file_of("leak"), path)
    page, _ = page_of(t, t.program("leak", path=path))
    if "<img" in page or "\x1b" in page:
        raise Failure("the name is in the page as it is")
    seen = seen_by_browser(t, page)
    if seen["images"] or seen["scripts"] != 5 or not seen["title"].startswith("memleak: "):
        raise Failure(f"{seen}")
    if "<img src=x onerror=document.title=1>&lt;\\x1b[2J" not in seen["rows"][0][0]:
        raise Failure(f"the rows are {seen['rows']}")
