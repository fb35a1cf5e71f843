# SPDX-License-Identifier: GPL-2.0-or-later
"""
Names the function that is to blame: the program's function, and the library call that it made.
"""

import pathlib
import re
import shutil

from lib import Failure, Skip, each, slow, timeout, wanted
from lib.process import PATIENCE

# Python allocates arenas of a megabyte from many stacks, so no single stack grows.
PYTHON = """
import sys, time
print("ready", flush=True)
sys.stdin.read(1)
kept = []
while True:
    kept.append([str(len(kept)) + "x" * 100 for one in range(3000)])
    time.sleep(0.2)
"""

PERL = """
$| = 1; print "ready\\n"; sysread STDIN, my $go, 1;
while (1) {
    push @kept, { name => "user-$_", tags => [$_, $_ + 1] } for 1 .. 300;
    select undef, undef, undef, 0.1;
}
"""


def symbol_of(site, key):
    """Returns the function of a site's "culprit" or "through"."""
    return None if site[key] is None else site["stack"][site[key]]["symbol"]


def names_of(report):
    return {(symbol_of(site, "culprit"), symbol_of(site, "through")) for site in report["sites"]}


def test_library_call(t):
    """
    Memory that a library allocates is attributed to the program's function that called the library.
    """
    program = t.program("named", "library")
    memleak = t.attach(program)
    program.go()
    wanted("names", names_of(memleak.stop()), {("match_user", "regcomp")})


def test_wrapper(t):
    """A function called from many places for many sizes is a wrapper; a constructor is not."""
    program = t.program("named", "own")
    memleak = t.attach(program, "-T", "50")
    program.go()
    wanted("names", names_of(memleak.stop()),
           {(f"taker_{i}", "take") for i in range(8)} | {("make", None)})


@slow
@timeout(120)
def test_python(t):
    """
    Memory that python takes for small objects is judged as one site; the list that keeps them is
    named.
    """
    program = t.process(["/usr/bin/python3", "-c", PYTHON],
                        env={"PYTHONMALLOC": "pymalloc"})
    program.wait_for("ready", lambda: b"ready" in program.out.data)
    memleak = t.memleak("-p", str(program.pid), "-T", "1", "1").ready()
    program.send()
    line = r"; meanwhile <module> <string>:\d+ adds [\d.]+ items/s to __main__\.kept \(list\)"
    # Version of /usr/bin/python3, which may differ from the python that runs the cases.
    minor = int(re.search(r"python3\.(\d+)$", str(pathlib.Path("/usr/bin/python3").resolve()))[1])
    if not 11 <= minor <= 14:
        line = "; to see which: .*"
    verdict = re.compile(r"^▲ (?:a leak is likely: )?python objects grow \d+(\.\d+)? [KM]iB/s"
                         r"(, \w+.*)? for \d+ s" + line + "$", re.M)
    memleak.wait_for("the verdict", lambda: verdict.search(memleak.out.text), 2 * PATIENCE)
    memleak.stop()
    text = memleak.out.text
    if "nothing seems to leak" in text.split("python objects grow")[0]:
        raise Failure(text)


@slow
@timeout(120)
def test_python_line(t):
    """Where each object is a block, the line of the script that keeps it is named."""
    program = t.process(["/usr/bin/python3", "-c", PYTHON], env={"PYTHONMALLOC": "malloc"})
    program.wait_for("ready", lambda: b"ready" in program.out.data)
    memleak = t.memleak("-p", str(program.pid), "-T", "1", "1").ready()
    program.send()
    verdict = re.compile(r"^▲ (?:a leak is likely: )?\S+ <string>:7(, called by \S+,)? grows "
                         r"\d+(\.\d+)? [KM]iB/s, ", re.M)
    memleak.wait_for("the verdict", lambda: verdict.search(memleak.out.text), 2 * PATIENCE)
    memleak.stop()


RUBY = """
$stdout.sync = true; puts "ready"; $stdin.read(1)
kept = []
while true
  300.times { |i| kept << { name: "user-#{i} of the shop", tags: [i, i + 1, i + 2, i + 3] } }
  sleep 0.1
end
"""

PHP = """
echo "ready\n"; fread(STDIN, 1);
while (true) {
    for ($i = 0; $i < 3000; $i++) $kept[] = ["name" => "user-$i", "tags" => [$i, $i + 1]];
    usleep(100000);
}
"""

# Buffers grow steadily, V8's own heap does not.
NODE = """
console.log("ready");
const kept = [];
process.stdin.once("data", () => setInterval(() => {
    for (let i = 0; i < 10; i++) kept.push(Buffer.alloc(10000));
}, 100));
"""

# For each language, how it runs a script and what grows.
SCRIPTS = {"perl": (["perl", "-e", PERL], "perl objects"),
           "ruby": (["ruby", "-e", RUBY], "ruby objects"),
           "php": (["php", "-r", PHP], "php objects"),
           "node": (["node", "-e", NODE], "Buffers of node")}


@slow
@timeout(120)
@each(*SCRIPTS)
def test_scripts(t, language):
    """All blocks that a language takes for its objects are judged as one."""
    argv, what = SCRIPTS[language]
    if not shutil.which(argv[0]):
        raise Skip(f"{argv[0]} is not installed")
    program = t.process(argv)
    program.wait_for("ready", lambda: b"ready" in program.out.data)
    memleak = t.memleak("-p", str(program.pid), "-T", "1", "1").ready()
    program.send()
    lines = re.compile(r"^.* grows? \d.*$", re.M)
    memleak.wait_for("the verdict", lambda: lines.search(memleak.out.text), 2 * PATIENCE)
    memleak.stop()
    for line in lines.findall(memleak.out.text):
        line = line.replace("a leak is likely: ", "")
        if line.startswith("▲ JavaScript objects grow"):
            continue
        if not re.match("▲ " + what + r" grow \d+(\.\d+)? [KM]iB/s(, [\w ]+)? for \d+ s"
                        r"(; to see which: .*)?$", line):
            raise Failure(line)


def test_own(t):
    """
    A library in the program's folder counts as part of the program, unless --own says otherwise.
    """
    for own, name, through in ((), "plugin_leak", None), \
            (("--own", t.file_of("dlopen")), "call_plugin", "plugin_work"), \
            (("--own", t.file_of("dlopen"), "--own", "libplugin.so"), "plugin_leak", None):
        program = t.program("dlopen", t.file_of("libplugin.so"), "stay")
        memleak = t.attach(program, *own)
        program.go()
        report = memleak.stop()
        wanted("plugin", (name, through) in names_of(report), True)
