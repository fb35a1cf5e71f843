# SPDX-License-Identifier: GPL-2.0-or-later
"""--live: keys and screens, in a tmux terminal."""

import os
import re
import signal

from lib import Failure, ROOT, each, untraced
from lib.screen import SHELL_END, Screen

RECORDING = ROOT / "tests/golden/live/run.mlk"


def recording(t, *options, **kwargs):
    screen = Screen(t, "report", RECORDING, "--live", *options, **kwargs)
    screen.wait_for("8 of 8")
    return screen


@untraced
def test_report_fits(t):
    """A text report leaves its verdict on the screen; with --top it has all stacks."""
    screen = Screen(t, "report", RECORDING)
    text = screen.wait_for(SHELL_END, "outstanding:")
    if "▲ a leak is likely: " not in text or not re.search(r"^\(\d+ more stacks?: -T 5\)$", text, re.M):
        raise Failure(text)
    screen = Screen(t, "report", "--top", "5", RECORDING, size="120x50")
    if "more stack" in screen.wait_for(SHELL_END, "outstanding:"):
        raise Failure(screen.text())


# Cases that show a recording, so that screens are the same on every machine.

@untraced
@each("80x24", "40x10", "120x30")
def test_size(t, size):
    """The screen shows what fits into its size."""
    recording(t, size=size).golden(f"main-{size}").keys("q").left(0)


@untraced
def test_sums(t):
    """
    The total, its peak and its growth are in one line on a low terminal, without counts on a narrow
    one, and otherwise beside a chart of the total.
    """
    screen = recording(t)
    screen.wait_for("\nnow  6.28M in 2416 blocks, 5 stacks  ", "\npeak 6.28M  ",
                    "\nrate +123K/s  losses: press v  ", 5 * "▁" + 35 * "█" + "\n")
    screen.keys("{").wait_for("2.06M in 312 blocks, 4 stacks\n", "\nrate -\n", without=["██"])
    screen.keys("}").resize(40, 24).wait_for("\nnow  6.28M     ", "\nrate +123K/s  losses: v  ▁██")
    screen.resize(80, 19).wait_for(
        "6.28M in 2416 blocks, 5 stacks, peak 6.28M, +123K/s ▁▄██████  losses: press v\n")
    screen.resize(40, 10).wait_for("6.28M, peak 6.28M, +123K/s  losses: v\n")
    screen.keys("q").left(0)


@untraced
def test_columns(t):
    """The share and the caller are shown where there is room; a long caller is cut."""
    screen = recording(t)
    screen.wait_for("BYTES▼ SHARE  RATE/s AGE p50 HISTORY  VERDICT    CULPRIT\n",
                    " 6.00M   96%       0      3s ", "   500   <1%",
                    " fill fill.cc:7 ← run\n", " no_line gen/no_line.c\n")
    screen.resize(90, 24).wait_for(" no_line gen/no_line.c ← __vdso_gettimeof…\n")
    screen.resize(100, 24).wait_for("BYTES▼ SHARE   BLOCKS  CHANGE  RATE/s AGE p50 HISTORY ")
    screen.resize(71, 24).wait_for("BYTES▼ SHARE  CHANGE  RATE/s VERDICT ")
    screen.resize(120, 24).wait_for(" no_line gen/no_line.c ← __vdso_gettimeofday\n")
    screen.resize(40, 10).wait_for("BYTES▼  CHANGE CULPRIT\n 6.00M       0 fill fill.cc:7 ← run\n")
    screen.keys("q").left(0)


@untraced
def test_order(t):
    """Sorts by any column, in both directions."""
    screen = recording(t)
    screen.keys("3").golden("sort-change")
    screen.keys("I").golden("sort-change-inverted")
    screen.keys("s", "s", "s").golden("sort-verdict")
    screen.keys("q").left(0)


@untraced
def test_filter(t):
    """The filter applies to each letter typed, shows how much it hides, and Esc clears it."""
    screen = recording(t)
    screen.keys("/", "l", "e", "a", "k", "_").golden("filter-typing")
    screen.keys("b", "Enter").golden("filter")
    screen.keys("Escape").golden("main-80x24")
    screen.keys("/", "zzz", "Enter").golden("filter-nothing")
    screen.keys("q").left(0)


@untraced
def test_stack(t):
    """Shows a stack, selects its frames, and goes back."""
    screen = recording(t)
    screen.keys("Down", "Enter").golden("stack")
    screen.keys("Down").golden("stack-caller")
    screen.keys("q").wait_for("CULPRIT")
    screen.keys("q").left(0)


@untraced
def test_stack_charts(t):
    """A stack has charts of its history and its ages, where there is room."""
    screen = recording(t)
    screen.keys("Down", "Enter").wait_for(
        "\nmost  234K                          ▂▂▂▂▅▅▅▅██   newest 0s     █\n",
        "\nleast 0                 ▂▂▂▂▅▅▅▅▇▇▇▇██████████   p50    3s     █\n",
        "\nover  40s     ▁▁▄▄▄▄▇▇▇▇██████████████████████   oldest 40s    █\n")
    screen.resize(40, 20).wait_for("\nover  40s     ▁▄▄▇▇███████████\n", without=["newest"])
    screen.resize(80, 19).wait_for("→ leak_small leak.c:12", without=["least", "newest"])
    screen.keys("q", "q").left(0)


@untraced
def test_groups(t):
    """Groups by process and module, and shows the sites in a group."""
    screen = recording(t)
    screen.keys("Tab").golden("by-process")
    screen.keys("Down", "Enter").golden("within-process")
    screen.keys("Escape", "Tab").wait_for("no threads: the recording was made with neither")
    screen.keys("Tab").golden("by-module")
    screen.keys("q").left(0)


@untraced
def test_help(t):
    screen = recording(t)
    screen.keys("h").golden("help")
    screen.keys("q").golden("main-80x24")
    screen.keys("v").golden("facts")
    screen.keys("q", "q").left(0)


@untraced
def test_scrub(t):
    """Moves to any moment of a recording, and shows what was added since a mark."""
    screen = recording(t)
    screen.keys("Left", "Left", ",").golden("moment-5")
    screen.keys("{").golden("moment-1")
    screen.keys("m", ">").golden("since-moment-1")
    screen.keys("M", "1").golden("main-80x24")
    screen.keys("<", ".").wait_for("2 of 8")
    screen.keys("}").golden("main-80x24")
    screen.keys("q").left(0)


@untraced
def test_steps(t):
    """t and T step, and j jumps to a moment by its number; each shows the figures of its moment."""
    # At moment n, leak_small has n * 29.3 KiB in n * 300 blocks.
    figures = {n: (f" {n} of 8", f"{total}M in {blocks} blocks", f" {small} ")
               for n, total, blocks, small in ((8, 6.28, 2416, "234K"), (7, 6.26, 2120, "205K"),
                                               (6, 6.19, 1810, "176K"), (3, 6.11, 914, "87.9K"),
                                               (2, 4.07, 608, "58.6K"))}
    screen = recording(t)
    screen.wait_for(*figures[8], "  t T step  j jump  ")
    screen.keys("T").wait_for(*figures[7])
    screen.keys("T").wait_for(*figures[6])
    screen.keys("t").wait_for(*figures[7])
    screen.keys("j").wait_for("\nmoment (1 to 8):\n")
    screen.keys("3").wait_for("\nmoment (1 to 8): 3\n", *figures[7])
    screen.keys("Enter").wait_for(*figures[3], "h help", without=["moment (1"])
    screen.keys("T").wait_for(*figures[2])
    screen.keys("j", "6", "Escape").wait_for(*figures[2], without=["moment (1"])
    screen.keys("j", "9", "Enter").wait_for(*figures[8])
    screen.keys("Enter", "j", "3", "Enter").wait_for("3 of 8", "6.00M in 6 blocks, oldest 30s")
    screen.keys("q", "q").left(0)


@untraced
def test_keys(t):
    """The last line has the keys of the state, with their options, as far as they fit."""
    screen = recording(t)
    screen.wait_for("\nh help  q quit  t T step  j jump  / filter  s --sort  ",
                    "  Tab --by  Enter open\n")
    screen.resize(120, 24).wait_for("  w --format html  m mark  v verdict\n",
                                    without=["--prove", "--record", "pause"])
    screen.keys("m").wait_for("  M unmark  v verdict\n")
    screen.keys("/", "l", "Enter").wait_for("\nh help  q quit  Esc back  t T step  ")
    screen.keys("Enter").wait_for("\nq back  Up Down source of a frame  h help  t T step  j jump\n")
    screen.resize(40, 10).wait_for("\nq back  Up Down source of a frame\n")
    screen.keys("q", "q").left(0)


@untraced
def test_resize(t):
    """Resizing the terminal keeps the content."""
    screen = recording(t).golden("main-80x24")
    screen.resize(40, 10).golden("main-40x10")
    screen.resize(120, 30).golden("main-120x30")
    screen.resize(10, 3).wait_for("6.28M", without=["BYTES"])
    screen.resize(80, 24).golden("main-80x24")
    screen.keys("q").left(0)


@untraced
def test_ascii(t):
    """A terminal without UTF-8."""
    recording(t, env={"LC_ALL": "C"}).golden("ascii").keys("q").left(0)


COLOUR = re.compile(r"\x1b\[(?:[0-9;]*;)?[34][0-7][;m]")


@untraced
@each("environment", "option")
def test_no_colour(t, how):
    """NO_COLOR and --color never switch off colours; otherwise the suspect is red."""
    options, env = ([], {"NO_COLOR": "1"}) if how == "environment" else (["--color", "never"], {})
    screen = recording(t, *options, env=env).golden("main-80x24")
    if COLOUR.search(screen.text(colour=True)):
        raise Failure(screen.text(colour=True))
    screen.keys("q").left(0)


@untraced
def test_colour(t):
    screen = recording(t).golden("main-80x24")
    if "\x1b[31m" not in screen.text(colour=True):
        raise Failure(screen.text(colour=True))
    screen.keys("q").left(0)


@untraced
def test_mouse(t):
    """The mouse is off until o is pressed, as the terminal could not select text otherwise."""
    screen = recording(t)
    if screen.state("mouse_any_flag") != "0":
        raise Failure("the mouse is taken")
    screen.keys("o").wait_for("the mouse is on")
    if screen.state("mouse_any_flag") != "1":
        raise Failure("the mouse is not taken")
    screen.keys("q").left(0)


@untraced
def test_page(t):
    """Saves the moment shown as a page."""
    screen = recording(t)
    screen.keys("{", "w").wait_for("the report is in memleak-", "1 of 8")
    page = next(t.tmp.glob("memleak-*.html")).read_text(encoding="utf-8")
    if not page.startswith("<!DOCTYPE html>") or "leak_small" not in page:
        raise Failure(page[:200])
    if "the report is in memleak-" not in screen.keys("q").left(0):
        raise Failure("what it said is not on stderr afterwards")


# Cases about ways to quit.

@untraced
@each("q", "C-c", "TERM", "INT", "HUP", "SEGV")
def test_way_out(t, way):
    """The terminal is restored."""
    screen = recording(t)
    codes = {"SEGV": 139}
    if way in ("q", "C-c"):
        screen.keys(way)
    elif way == "SEGV" and t.sanitized:
        screen.keys("q")
        codes = {}
    else:
        os.kill(screen.pid, getattr(signal, f"SIG{way}"))
    screen.left(codes.get(way, 0))


@each("q", "C-c", "TERM", "HUP")
def test_way_out_of_a_run(t, way):
    """The terminal is restored while a program is traced; the program goes on."""
    program = t.program("leak")
    screen = Screen(t, "--live", "-o", "0", "-p", str(program.pid), "0.2")
    screen.wait_for("traced")
    if way in ("q", "C-c"):
        screen.keys(way)
    else:
        os.kill(screen.pid, getattr(signal, f"SIG{way}"))
    if "memleak: tracing" not in screen.left(0):
        raise Failure("what it said at first is gone")
    program.go()


@each("HUP", "TERM", "q")
def test_way_out_after_count(t, way):
    """The terminal is restored after COUNT has ended the run and its command."""
    screen = Screen(t, "--live", "-o", "0", "0.2", "2", "--", "sleep", "1000")
    screen.wait_for("ENDED")
    if way == "q":
        screen.keys("q").left(128 + signal.SIGTERM)
    else:
        # After the command has been ended, a signal ends memleak itself.
        screen.keys("r").wait_for("tracing has ended")
        number = getattr(signal, f"SIG{way}")
        os.kill(screen.pid, number)
        screen.left(128 + number)


@untraced
def test_suspend(t):
    """Ctrl-Z restores the terminal until fg."""
    screen = recording(t)
    screen.keys("C-z").left(128 + signal.SIGTSTP)
    screen.keys("fg", "Enter").golden("main-80x24")
    screen.keys("q").left(128 + signal.SIGTSTP)


def test_no_terminal(t):
    """Without a terminal, one line says so, and nothing is traced."""
    t.refused("report", RECORDING, "--live", code=1,
              says="--live needs a terminal for stdin and stdout")
    program = t.program("leak")
    t.refused("--live", "-p", str(program.pid), code=1, says="--live needs a terminal")


@untraced
@each("nonsense", "dumb")
def test_term(t, name):
    """TERM names a terminal that cannot be drawn on."""
    screen = Screen(t, "report", RECORDING, "--live", env={"TERM": name})
    says = "set TERM" if name == "nonsense" else "cursor"
    text = screen.left(1)
    if says not in " ".join(text.split()):
        raise Failure(text)


# Cases that trace a program.

def test_program(t):
    """
    Shows a program's leak on the screen, as a page and as a recording; pause, baseline and keys
    work.
    """
    program = t.program("leak")
    screen = Screen(t, "--live", "-o", "0", "-p", str(program.pid), "0.2")
    screen.wait_for("no outstanding block")
    program.go()
    screen.wait_for("5.00M in 10 blocks, 2 stacks", "leak_big", "leak_small")
    screen.wait_for("h help  q quit  / filter", "  memleak ", "% CPU  ", " calls/s  lost ")
    screen.wait_for("  Enter open  P --prove  R --record\n ")
    # On a low terminal, keys and load are on one line.
    screen.resize(100, 19).wait_for("\nh help  q quit  / filter  s --sort  Tab --by  Enter open   ",
                                    " calls/s  lost ", without=["--record"])
    screen.resize(80, 24).keys("p").wait_for("PAUSED", "\nh help  q quit  p go on  / filter ")
    program.go()
    screen.keys("R").wait_for("recording to memleak-")
    screen.keys("p").wait_for("10.0M in 20 blocks", without=["PAUSED"])
    screen.keys("w").wait_for("the report is in memleak-")
    screen.keys("R").wait_for("the recording is in memleak-")
    screen.keys("b").wait_for("no outstanding block", "\nnow  0 in 0 blocks, 0 stacks\n",
                              "\npeak 0\n")
    screen.keys("q").left(0)
    report = t.memleak("report", "--json", next(t.tmp.glob("memleak-*.mlk")))
    report.finish(final=False)
    outstanding = report.reports[-1]["outstanding"]
    if outstanding != {"bytes": 10 * (16 + (1 << 20)), "count": 20}:
        raise Failure(f"the recording says {outstanding}")
    if "leak_big" not in next(t.tmp.glob("memleak-*.html")).read_text(encoding="utf-8"):
        raise Failure("the page has no leak_big")


def test_source(t):
    """Shows the source around the line that allocates, and around that of a caller."""
    program = t.program("leak")
    screen = Screen(t, "--live", "-o", "0", "-p", str(program.pid), "0.2", cwd=ROOT)
    screen.wait_for("no outstanding block")
    program.go()
    screen.wait_for("leak_big")
    screen.keys("Enter").wait_for(">     return keep(malloc(BIG)); /* LEAK */", "leak_big(void)")
    screen.keys("Down").wait_for(">         big[i] = leak_big();")
    screen.keys("q", "q").left(0)


def test_threads(t):
    """Threads are told apart once their view is selected."""
    program = t.program("leak")
    screen = Screen(t, "--live", "-o", "0", "-p", str(program.pid), "3600")
    screen.wait_for("h help")
    program.go()
    screen.keys("Tab", "Tab").wait_for(f"thread {program.pid} of leak", "5.00M")
    screen.keys("Enter").wait_for("leak_small")
    screen.keys("q").left(0)


def test_proof(t):
    """P makes a proof, regardless of the interval, and lost blocks come first."""
    program = t.program("prove_shapes", "tree_that_was_cut")
    screen = Screen(t, "--live", "-o", "0", "-p", str(program.pid), "3600")
    screen.wait_for("h help")
    program.go()
    screen.keys("P").wait_for(" definite ", "cut_node")
    screen.keys("P").wait_for(" lost 32 ", "cut_node")
    screen.keys("q").left(0)


def test_proof_soon(t):
    """P makes two proofs in a row, even if --prove-every asks for fewer."""
    program = t.program("prove_shapes", "tree_that_was_cut")
    screen = Screen(t, "--live", "-o", "0", "--prove-every", "1000", "-p", str(program.pid), "0.5")
    screen.wait_for("no outstanding block")  # the first report, which has a proof
    program.go()
    screen.wait_for(" 1s ", "cut_node")
    screen.keys("P").wait_for(" lost 32 ", "cut_node")
    screen.keys("q").left(0)


def test_end(t):
    """After the program has ended, the screen stays and keys work; probes are removed."""
    program = t.program("leak")
    screen = Screen(t, "--live", "-o", "0", "-p", str(program.pid), "0.2")
    screen.wait_for("no outstanding block")
    program.go()
    screen.wait_for("leak_big")
    os.kill(program.pid, signal.SIGKILL)
    program.popen.wait()
    screen.wait_for("ENDED", "leak_big")
    screen.keys("Enter").wait_for("round_of_leaks")
    screen.keys("w").wait_for("the report is in memleak-")
    screen.keys("r").wait_for("tracing has ended")
    screen.keys("q", "q").left(0)


def test_command(t):
    """The command's output does not appear on the terminal."""
    screen = Screen(t, "--live", "-o", "0", "0.2", "--", "sh", "-c",
                    "echo on the terminal; echo there >&2; sleep 30")
    if "on the terminal" in screen.wait_for("h help", "traced"):
        raise Failure(screen.text())
    screen.keys("q")
    if "on the terminal" in screen.left(143):
        raise Failure(screen.text())
