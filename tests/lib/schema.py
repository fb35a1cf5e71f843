# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks every report against schema memleak/1, whatever was traced. Unknown keys are accepted."""

import re

from .case import Failure

INTEGER = (int,)
MAYBE_INTEGER = (int, type(None))
MAYBE_TEXT = (str, type(None))

REPORT = {
    "schema": (str,), "time": (str,), "elapsed_ns": INTEGER, "final": (bool,),
    "outstanding": (dict,), "sites_total": INTEGER, "reserved": (dict,), "sites": (list,), "walk_ns": INTEGER,
    "sampling": (dict, type(None)), "baseline_ns": MAYBE_INTEGER,
    "suppressed": (list,), "start_up": (dict,), "lost": (dict,),
    "inferred": (dict,), "suspects": (list,), "suspects_total": INTEGER, "undecided": INTEGER,
    "verdict": (str,),
}
VERDICTS = ("untraced", "unknown", "early", "ended", "keeps", "clear")
SITE = {
    "id": (str,), "space": (str,), "kind": (str,), "pid": MAYBE_INTEGER, "comm": MAYBE_TEXT,
    "bytes": INTEGER, "count": INTEGER, "oldest_ns": MAYBE_INTEGER, "newest_ns": MAYBE_INTEGER,
    "growth": (dict,), "stack": (list,), "trend": (dict,), "ages": (list,), "start_up": (bool,),
}
MAYBE_NUMBER = (int, float, type(None))
TREND = {
    "tendency": (str,), "since_ns": INTEGER, "bytes_per_s": MAYBE_NUMBER,
    "bytes_per_s_low": MAYBE_NUMBER, "bytes_per_s_high": MAYBE_NUMBER, "seen": INTEGER,
    "freed": INTEGER, "lifetime_ns": INTEGER, "score": (dict,),
}
UNTRACED = {
    "pid": MAYBE_INTEGER, "comm": MAYBE_TEXT, "part": (str,), "per_s": (int, float),
    "traced_bytes_per_s": (int, float), "since_ns": INTEGER,
}
RSS_PARTS = ("live", "kept", "python_free", "mapped", "stacks", "files", "shared", "unread", "other")
DESCRIPTORS = {"older": INTEGER, "missed": INTEGER, "closed_unseen": INTEGER,
               "unread": INTEGER}
TRACING_COST = {
    "cpu_share": (int, float), "at_least": (bool,), "calls_per_s": (int, float),
    "least_cpu_share": (int, float),
}
PARTS = ("anonymous", "shared", "huge", "files", "descriptors", "threads", "children",
         "zombies", "unmapped", "virtual", "mappings", "page_tables", "sockets", "timers",
         "queues")
SCORE = {"total": (int, float), "growth": (int, float), "risen": (int, float),
         "unfreed": MAYBE_NUMBER, "older_ns": INTEGER}
TENDENCIES = ("unknown", "flat", "steady", "steps", "levelled", "shrinks")
AGE = {"from_ns": INTEGER, "bytes": INTEGER, "count": INTEGER}
KERNEL_SITE = {
    "last_pid": MAYBE_INTEGER, "last_comm": MAYBE_TEXT, "several_pids": (bool,),
    "owner_pid": MAYBE_INTEGER, "owner_comm": MAYBE_TEXT,
    "interrupt": (bool,), "cache": MAYBE_TEXT, "several_caches": (bool,),
    "reclaimable": (bool,), "unseen_frees": INTEGER,
}
SUPPRESSED = {"pattern": (str,), "bytes": INTEGER, "count": INTEGER, "sites": INTEGER}
RESERVED = {"bytes": INTEGER, "count": INTEGER, "sites": INTEGER}
INFERRED_COUNTERS = ("replaced", "gone_with_page")
INFERRED = {"replaced": INTEGER, "gone_with_page": INTEGER, "beyond_caches": INTEGER,
            "frees_hidden": (bool,), "vmalloc_hidden": INTEGER}
GROUP = {
    "id": (str,), "bytes": INTEGER, "count": INTEGER, "oldest_ns": MAYBE_INTEGER,
    "newest_ns": MAYBE_INTEGER, "growth": (dict,), "sites_total": INTEGER, "sites": (list,),
}
PROCESS = {"pid": MAYBE_INTEGER, "comm": MAYBE_TEXT}
GROUP_BY = {
    "process": PROCESS, "module": {"module": MAYBE_TEXT},
    "thread": {**PROCESS, "tid": INTEGER, "thread": MAYBE_TEXT},
    "cgroup": {"cgroup": MAYBE_TEXT},
}
FRAME = {
    "addr": MAYBE_TEXT, "symbol": MAYBE_TEXT, "offset": MAYBE_INTEGER, "module": MAYBE_TEXT,
    "module_offset": MAYBE_TEXT, "build_id": MAYBE_TEXT, "file": MAYBE_TEXT,
    "line": MAYBE_INTEGER, "inlined": (bool,),
}
ALLOC = {"addr": (str,), "size": INTEGER, "age_ns": MAYBE_INTEGER, "tid": MAYBE_INTEGER}
LARGEST = {**PROCESS, **ALLOC, "kind": (str,), "id": (str,), "stack": (list,)}
PEAK = {
    "time": MAYBE_TEXT, "age_ns": MAYBE_INTEGER, "bytes": INTEGER, "count": INTEGER,
    "highest_bytes": INTEGER, "sites_total": INTEGER, "sites": (list,),
}
KINDS_OF_REACH = ("definite", "indirect", "possible", "reachable")
PROOF = {"method": MAYBE_TEXT, "stopped_ms": (int, float), "scanned_bytes": INTEGER,
         "pictures": INTEGER, "processes": INTEGER, "unproved": INTEGER}
CENSUS = {
    "classes": (list,), "requested_bytes": INTEGER, "allocator": (dict,), "heap_bytes": INTEGER,
    "present_bytes": INTEGER, "arenas": INTEGER, "elsewhere": (dict,), "skipped_arenas": INTEGER,
    "cut_lists": INTEGER, "processes": INTEGER, "without_heap": INTEGER,
    "memory": (dict, type(None)),
}
USES = ("known", "older", "free")
MEMORY = {key + "_bytes": INTEGER
          for key in ("resident", "swapped", "heap", "other", "file", "shared")}
LOST = ("allocs_full", "stacks_full", "nesting", "recursion", "unwind")
KINDS = ("heap", "mmap", "reserve", "stack", "slab", "page", "percpu", "descriptor")


def require(holds, text):
    if not holds:
        raise Failure("schema: " + text)


def check_keys(what, record, keys):
    """The texts are made only after a failure: that of a value may be megabytes long."""
    for key, types in keys.items():
        if key not in record:
            raise Failure(f"schema: {what} has no {key!r}")
        value = record[key]
        number = isinstance(value, bool) and bool not in types
        if number or not isinstance(value, types):
            raise Failure(f"schema: {what}.{key} is {value!r}")


known_frames = set()  # items and types of frames that passed: many stacks share their frames


def check_frame(frame):
    identity = (*frame.items(), *map(type, frame.values()))
    if identity in known_frames:
        return
    check_keys("frame", frame, FRAME)
    require(frame["addr"] is None or re.fullmatch(r"0x[0-9a-f]+", frame["addr"]),
            f"frame.addr {frame['addr']!r}")
    for key, pattern in (("module_offset", r"0x[0-9a-f]+"), ("build_id", r"([0-9a-f]{2})+")):
        value = frame[key]
        require(value is None or re.fullmatch(pattern, value), f"frame.{key} {value!r}")
    require(frame["line"] is None or frame["line"] > 0, "frame.line 0")
    known_frames.add(identity)


def check_trend(trend):
    check_keys("trend", trend, TREND)
    check_keys("score", trend["score"], SCORE)
    require(trend["tendency"] in TENDENCIES, f"tendency {trend['tendency']!r}")
    require(trend["freed"] <= trend["seen"], f"{trend['freed']} of {trend['seen']} blocks freed")
    for key in ("total", "growth", "risen"):
        require(0 <= trend["score"][key] <= 1, f"score.{key} {trend['score'][key]}")
    low, high = trend["bytes_per_s_low"], trend["bytes_per_s_high"]
    require(low is None or low <= trend["bytes_per_s"] <= high, f"bytes_per_s in {low}..{high}")


def check_sums(what, sums, keys):
    for key in keys:
        check_keys(what, sums, {key: (dict,)})
        check_keys(f"{what}.{key}", sums[key], {"bytes": INTEGER, "count": INTEGER})
        require(min(sums[key].values()) >= 0, f"{what}.{key} {sums[key]}")


def check_reach(what, record):
    """Checks what a proof says about a site or group: the sums must not exceed its blocks."""
    reach = record["reach"]
    if reach is None:
        require(not record.get("held_by"), f"{what} is held, though nobody looked at it")
        return
    check_sums(f"{what}.reach", reach, (*KINDS_OF_REACH, "lost", "lost_with_them"))
    for key in ("bytes", "count"):
        known = sum(reach[kind][key] for kind in KINDS_OF_REACH)
        require(known <= record[key], f"{what}: a proof of {known} {key}, of {record[key]}")
        require(reach["lost"][key] <= reach["definite"][key], f"{what}: lost, and not definite")
    require(reach["lost"]["count"] or not reach["lost_with_them"]["count"],
            f"{what}: lost with nothing")


def check_losses(losses, report):
    """
    Checks the losses by function: each has the path that lost most, and no sum exceeds the total.
    """
    for loss in losses:
        check_site(loss, False)
        check_keys("loss", loss, {"paths": INTEGER, "processes": INTEGER, "lost_for_ns": INTEGER,
                                  "lost_per_s": (int, float)})
        check_sums("loss", loss, ("lost", "lost_with_them"))
        for key in ("lost", "lost_with_them"):
            require(loss[key]["count"] >= loss["reach"][key]["count"], f"{key} by a path, not all")
        require(loss["lost"]["count"] and loss["paths"], f"a loss of nothing: {loss}")
    require(sum(loss["paths"] for loss in losses) <= report.get("losses_total", 0),
            "more losses than there are")


def check_proof(report):
    """
    Checks that a report with a proof applies it to everything, and that a report without a proof
    has no results of one.
    """
    proof = report.get("proof")
    losses = report.get("losses", [])
    require(("losses" in report) == (proof is not None), "losses go with a proof, and only so")
    shown = report["sites"] + report["suspects"] + losses + report.get("groups", [])
    shown += [site for group in report.get("groups", ()) for site in group["sites"]]
    for record in shown:
        require(("reach" in record) == (proof is not None), "reach goes with a proof, and only so")
        if proof and "stack" in record:
            check_keys("site", record, {"held_by": (list,)})
            require(all(isinstance(link, str) and link for link in record["held_by"]),
                    f"held_by {record['held_by']!r}")
        if proof:
            check_reach("site" if "stack" in record else "group", record)
    check_losses(losses, report)
    if not proof:
        return
    check_keys("proof", proof, PROOF)
    check_sums("proof", proof, KINDS_OF_REACH)
    require(proof["unproved"] <= proof["processes"], f"proof of {proof['processes']} processes")
    methods = ("still", "clone", "freeze", "ended")
    require(proof["method"] in methods if proof["unproved"] < proof["processes"] else
            proof["method"] is None, f"proof.method {proof['method']!r}")
    require(proof["pictures"] in (1, 2) and proof["stopped_ms"] >= 0, f"proof {proof}")


def check_site(site, with_allocs):
    check_keys("site", site, SITE)
    require(re.fullmatch(r"[0-9a-f]{16}", site["id"]), f"site.id {site['id']!r}")
    require(site["space"] in ("user", "kernel"), f"site.space {site['space']!r}")
    require(site["kind"] in KINDS, f"site.kind {site['kind']!r}")
    if site["space"] == "kernel":
        check_keys("kernel site", site, KERNEL_SITE)
    require(("slab", "page", "percpu").count(site["kind"]) == (site["space"] == "kernel"),
            f"kind {site['kind']} in the {site['space']}")
    require(site["count"] > 0, f"site with count {site['count']}")
    require(site["bytes"] >= 0, f"site with {site['bytes']} bytes")
    check_keys("growth", site["growth"], {"bytes": INTEGER, "count": INTEGER})
    ages = (site["oldest_ns"], site["newest_ns"])
    require((ages[0] is None) == (ages[1] is None), "only one age is known")
    require(ages[0] is None or ages[0] >= ages[1] >= 0, f"ages {ages}")
    require(site["stack_end"] in (None, "complete", "truncated", "cut"),
            f"site.stack_end {site['stack_end']!r}")
    require(site["truncated"] == (site["stack_end"] == "truncated"), "truncated in one word only")
    for frame in site["stack"]:
        check_frame(frame)
    check_trend(site["trend"])
    for age in site["ages"]:
        check_keys("age", age, AGE)
        require(age["count"] > 0, "an age that no block has")
    require(("allocs" in site) == with_allocs, "allocs goes with -a, and only with it")
    if with_allocs:
        check_allocs(site)


def check_allocs(site):
    allocs = site["allocs"]
    for alloc in allocs:
        check_keys("alloc", alloc, ALLOC)
        require(re.fullmatch(r"0x[0-9a-f]+", alloc["addr"]), f"alloc.addr {alloc['addr']!r}")
    require(len({alloc["addr"] for alloc in allocs}) == len(allocs), "a block is listed twice")
    require(len(allocs) == site["count"], f"{len(allocs)} blocks listed of {site['count']}")
    require(sum(alloc["size"] for alloc in allocs) == site["bytes"], "listed bytes differ")


def check_group(group, by, with_allocs):
    check_keys("group", group, GROUP)
    check_keys("group", group, GROUP_BY[by])
    require(re.fullmatch(r"[0-9a-f]{16}", group["id"]), f"group.id {group['id']!r}")
    require(group["count"] > 0, f"group with count {group['count']}")
    for site in group["sites"]:
        check_site(site, with_allocs)
    require(len(group["sites"]) == min(3, group["sites_total"]), "not the top 3 sites of a group")
    for key in ("bytes", "count"):
        shown = sum(site[key] for site in group["sites"])
        require(shown == group[key] if group["sites_total"] <= 3 else shown <= group[key],
                f"group.{key} is {group[key]}, its sites' sum {shown}")


def check_groups(report, with_allocs):
    groups = report["groups"]
    require(report["by"] in GROUP_BY, f"by {report['by']!r}")
    require(report["sites"] == [], "sites beside groups")
    for group in groups:
        check_group(group, report["by"], with_allocs)
    require(len({group["id"] for group in groups}) == len(groups), "a group is shown twice")
    if len(groups) < report["groups_total"]:
        return
    for key in ("bytes", "count"):
        require(sum(group[key] for group in groups) == report["outstanding"][key],
                f"outstanding.{key} is not the groups' sum")
    require(sum(group["sites_total"] for group in groups) == report["sites_total"],
            "sites_total is not the groups' sum")


def check_peak(peak):
    check_keys("peak", peak, PEAK)
    require((peak["age_ns"] or 0) >= 0, f"the peak is {peak['age_ns']} ns old")
    require(peak["highest_bytes"] >= peak["bytes"], "at most less than at some moment")
    for site in peak["sites"]:
        for frame in site["stack"]:
            check_frame(frame)
    whole = len(peak["sites"]) == peak["sites_total"]
    for key in ("bytes", "count"):
        shown = sum(site[key] for site in peak["sites"])
        require(shown == peak[key] if whole else shown <= peak[key],
                f"peak.{key} is {peak[key]}, its sites' sum {shown}")


def check_memory(memory):
    if not memory:
        return
    check_keys("memory", memory, dict.fromkeys((*RSS_PARTS, "rss", "pinned", "trimmable", "top", "huge",
                                                "swapped", "arenas", "torn_arenas", "skipped_arenas"), INTEGER))
    require(memory["rss"] == sum(memory[part] for part in RSS_PARTS) and
            memory["kept"] == memory["pinned"] + memory["trimmable"] + memory["top"],
            f"parts do not add up: {memory}")
    require(memory["exact"] == (not memory["torn_arenas"] and not memory["skipped_arenas"]),
            f"torn or skipped arenas are not exact: {memory}")
    require(memory["huge"] <= memory["rss"], f"more huge pages than pages: {memory}")
    older = memory.get("older")
    for key in ("bytes", "count") if older else ():
        require(older[key] == sum(row[key] for row in older["classes"]),
                f"classes of older blocks do not add up: {older}")
    require(memory.get("pinned_by_older", 0) <= memory["pinned"],
            f"older blocks pin more than all blocks together: {memory}")


def check_python(report):
    """Checks that nothing has grown by more than there is."""
    python = report.get("python")
    for one in python["containers"] if python else ():
        require(one["more"] <= one["items"], f"a container gained more than it has: {one}")
    for one in python["classes"] if python else ():
        require(one["more"] <= one["count"], f"more new objects than objects: {one}")


def check_census(report):
    """Checks that the parts of a census add up: of classes, of the heap, and of the memory."""
    census = report.get("census")
    if census is None:
        return
    require("proof" in report or "core" in report, "a census without a proof")
    check_keys("census", census, CENSUS)
    check_sums("census", census, (*USES, "elsewhere"))
    check_keys("allocator", census["allocator"], {"bytes": INTEGER, "spare_bytes": INTEGER})
    sizes = [row["upto_bytes"] for row in census["classes"]]
    require(sizes == [32 << i for i in range(len(sizes))] or sizes[-1] is None, f"classes {sizes}")
    for row in census["classes"]:
        check_sums("class", row, USES)
    for use in USES:
        for key in ("bytes", "count"):
            require(sum(row[use][key] for row in census["classes"]) == census[use][key],
                    f"{use}.{key} of classes, and of all")
    require(sum(census[use]["bytes"] for use in USES) + census["allocator"]["bytes"] ==
            census["heap_bytes"], f"parts of the heap: {census}")
    require(census["allocator"]["spare_bytes"] <= census["allocator"]["bytes"], "spare bytes")
    require(census["requested_bytes"] <= census["known"]["bytes"], "more asked for than given")
    memory = census["memory"]
    if memory:
        check_keys("memory", memory, MEMORY)
        parts = memory["heap_bytes"] + memory["other_bytes"] + memory["file_bytes"] + \
            memory["shared_bytes"]
        whole = memory["resident_bytes"] + memory["swapped_bytes"]
        # The kernel's counters may lag behind its page tables.
        require(parts == whole or (parts > whole and not memory["other_bytes"]),
                f"parts of the memory: {memory}")


def check_report(report, with_allocs=False):
    check_keys("report", report, REPORT)
    require(report["schema"] == "memleak/1", f"schema {report['schema']!r}")
    require(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", report["time"]),
            f"time {report['time']!r}")
    check_keys("outstanding", report["outstanding"], {"bytes": INTEGER, "count": INTEGER})
    check_keys("lost", report["lost"], {key: INTEGER for key in LOST})
    require(all(n >= 0 for n in report["lost"].values()), f"lost {report['lost']}")
    check_keys("inferred", report["inferred"], INFERRED)
    check_keys("start_up", report["start_up"], {"bytes": INTEGER, "count": INTEGER,
                                                "sites": INTEGER})
    for entry in report["suppressed"]:
        check_keys("suppressed", entry, SUPPRESSED)
    check_keys("reserved", report["reserved"], RESERVED)
    for site in report["suspects"]:
        check_site(site, with_allocs)
        require(site["trend"]["tendency"] in ("steady", "steps"), "a suspect that does not grow")
        check_keys("suspect", site, {"chunk_bytes": MAYBE_INTEGER, "chunk_callers": MAYBE_INTEGER})
        require((site["chunk_bytes"] is None) == (site["chunk_callers"] is None), "half a pool")
    if "ended" in report:
        check_keys("ended", report["ended"], {"processes": INTEGER, "bytes": INTEGER,
                                              "count": INTEGER})
    if "descriptors" in report:
        check_keys("descriptors", report["descriptors"], DESCRIPTORS)
        require(all(site["kind"] == "descriptor" for site in report["sites"]), "memory, too")
    if "ended_processes" in report:
        ended = report["ended_processes"]
        check_keys("ended_processes", ended, {"processes": INTEGER, "bytes": INTEGER,
                                              "largest": (list,)})
        for process in ended["largest"]:
            check_keys("ended process", process, {"pid": INTEGER, "comm": MAYBE_TEXT,
                                                  "bytes": INTEGER, "count": INTEGER,
                                                  "killed_by": MAYBE_INTEGER,
                                                  "out_of_memory": (bool,)})
    if "tracing_cost" in report:
        cost = report["tracing_cost"]
        check_keys("tracing_cost", cost, TRACING_COST)
        require(0 <= cost["least_cpu_share"] <= 1 and 0 <= cost["cpu_share"] < 1, f"cost {cost}")
    if "max_overhead" in report:
        check_keys("max_overhead", report["max_overhead"], {"cpu_share": (int, float),
                                                            "interval": INTEGER})
    for growth in report.get("untraced", ()):
        check_keys("untraced", growth, UNTRACED)
        require(growth["part"] in PARTS and growth["per_s"] > 0, f"untraced growth {growth}")
    require(len(report["suspects"]) <= report["suspects_total"], "more suspects than there are")
    wanted = "lost" if report.get("losses") else "grows" if report["suspects"] else None
    require(report["verdict"] == wanted if wanted else report["verdict"] in VERDICTS,
            f"the verdict is {report['verdict']}")
    check_memory(report.get("memory"))
    for item in report.get("memory_by_process", ()):
        check_memory(item["memory"])
    check_python(report)
    check_proof(report)
    check_census(report)
    if "by" in report:
        check_groups(report, with_allocs)
    for block in report.get("largest", ()):
        check_keys("largest", block, LARGEST)
        for frame in block["stack"]:
            check_frame(frame)
    if report.get("peak"):
        check_peak(report["peak"])
    sites = report["sites"]
    for site in sites:
        check_site(site, with_allocs)
    require(len({site["id"] for site in sites}) == len(sites), "a site is shown twice")
    require(len(sites) <= report["sites_total"], "more sites shown than there are")
    whole = len(sites) == report["sites_total"]
    for key in ("bytes", "count"):
        shown = sum(site[key] for site in sites)
        total = report["outstanding"][key]
        require(shown == total if whole else shown <= total,
                f"outstanding.{key} is {total}, the sites' sum {shown}")


def check_counts(report):
    check_keys("counts", report, {
        "time": (str,), "elapsed_ns": INTEGER, "interval_ns": INTEGER, "final": (bool,),
        "by": (str,), "calls": INTEGER, "bytes": INTEGER, "total": (dict,),
        "entries_total": INTEGER, "entries": (list,), "lost": (dict,)})
    keys = {"cgroup": {"id": MAYBE_INTEGER, "cgroup": MAYBE_TEXT}, "process": PROCESS,
            "function": {"function": MAYBE_TEXT}}[report["by"]]
    whole = len(report["entries"]) == report["entries_total"]
    for row in report["entries"]:
        check_keys("entry", row, {**keys, "calls": INTEGER, "bytes": INTEGER, "total": (dict,)})
        require(0 < row["calls"] <= row["total"]["calls"], f"calls of {row}")
    for key in ("calls", "bytes"):
        shown = sum(row[key] for row in report["entries"])
        require(shown == report[key] if whole else shown <= report[key],
                f"{key} is {report[key]}, the entries' sum {shown}")


def check_event(event):
    check_keys("event", event, {"schema": (str,)})


def check_sequence(reports):
    """Checks a run's reports: only the last is final, time increases, growth is the difference."""
    require(reports, "no report at all")
    finals = [report["final"] for report in reports]
    require(finals[-1] and not any(finals[:-1]), f"final flags {finals}")
    for before, after in zip(reports, reports[1:]):
        require(after["elapsed_ns"] > before["elapsed_ns"], "elapsed_ns does not grow")
        for key, count in before["lost"].items():
            require(after["lost"].get(key, -1) >= count, f"lost.{key} shrinks")
        for key in INFERRED_COUNTERS:
            require(after["inferred"][key] >= before["inferred"][key], f"inferred.{key} shrinks")
        known = {site["id"]: site for site in before["sites"]}
        complete = len(before["sites"]) == before["sites_total"]
        for site in after["sites"]:
            old = known.get(site["id"])
            if old is None and not complete:
                continue
            for key in ("bytes", "count"):
                growth = site[key] - (old[key] if old else 0)
                require(site["growth"][key] == growth,
                        f"growth.{key} {site['growth'][key]}, the difference is {growth}")
