# SPDX-License-Identifier: MIT
"""Compares runs of ptrace2ftf that must agree: random options, formats and selections on the
recordings of a list, and on damaged copies of them.

Usage: differential.py LIST SEED COUNT

LIST has a line for each recording: name, file, and the options that it needs, separated by tabs.
The program and its tools are below $top_builddir.  COUNT comparisons are made, the same for the
same SEED.  A difference is printed with the commands that show it; KEEP=1 keeps their files.
ONLY=threads,sums chooses among the checks (the functions check_NAME below)."""
import collections
import difflib
import itertools
import json
import math
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

BUILD = os.path.abspath(os.environ["top_builddir"])
SOURCE = os.path.abspath(os.environ["top_srcdir"])
PROGRAM = BUILD + "/ptrace2ftf"
SEGMENTS = BUILD + "/tests/support/ptrace2ftf-segments"
SHIM = BUILD + "/tests/differential/cpus.so"
SANITIZED = os.environ.get("P2F_SANITIZED") == "yes"
WORK = tempfile.mkdtemp(prefix="differential.")

FORMATS = """ftf branches calls slices events folded functions histogram chrome speedscope
    pprof callgrind lcov bolt llvm-profile html none""".split()
# Names of zero-length slices that sums leave out: processor events, and magic-trace's gaps.
MARKS = re.compile(r"ptwrite$|\[transaction aborted\]$|\[decode error: ")
# Keys of the summary that differ from run to run.
VOLATILE = ("seconds", "peak_memory_bytes", "phases")
HELP = subprocess.run([PROGRAM, "--help=all"], capture_output=True, text=True).stdout

Recording = collections.namedtuple("Recording", "name path options made_by")
Slice = collections.namedtuple("Slice", "thread depth begin end name args")


class Difference(Exception):
    """Two results that must be equal are not."""


class Result:
    """A run: its status, files, messages, and the command to repeat it."""

    def __init__(self, command, arguments, environment, stdin=None, pipe=None):
        shutil.rmtree(WORK + "/run", True)
        os.mkdir(WORK + "/run")
        words = [f"{k}={v}" for k, v in environment.items()] + [command] + arguments
        self.shown = " ".join(map(shlex.quote, words))
        self.shown = f"cat {pipe} | {self.shown}" if pipe else self.shown
        self.shown += f" <{stdin}" if stdin else ""
        done = subprocess.run(
            [command] + arguments,
            cwd=WORK + "/run",
            env={**os.environ, **environment},
            stdin=open(stdin, "rb") if stdin else None if pipe else subprocess.DEVNULL,
            input=open(pipe, "rb").read() if pipe else None,
            capture_output=True,
        )
        self.status, self.stdout = done.returncode, done.stdout
        self.messages = re.sub(rb"peak memory [^;\n]*", b"peak memory", done.stderr)
        self.files = {}
        for name in sorted(os.listdir(WORK + "/run")):
            with open(f"{WORK}/run/{name}", "rb") as file:
                self.files[name] = file.read()
        if self.status not in (0, 2, 64) and not (self.status == 1 and b"ptrace2ftf: " in done.stderr):
            raise Difference(f"status {self.status}: {self.messages[-500:].decode(errors='replace')}\n  {self.shown}")
        self.json = json.loads(self.files.pop("json")) if "json" in self.files else {}
        for key in VOLATILE:
            self.json.pop(key, None)

    def failed(self):
        return self.status not in (0, 2)

    def out(self):
        return self.files.get("out", b"")


def run(recording, options, environment={}, **input_):
    """Converts a recording to `out`, with its summary in `json`."""
    path = ["-"] if input_ else [recording.path]
    options = ["-o", "out", "--json=json"] + options + recording.options + path
    program = SEGMENTS if "PTRACE2FTF_SEGMENT" in environment else PROGRAM
    return Result(program, options, environment, **input_)


def first_lines_that_differ(a, b):
    try:
        a, b = a.decode().splitlines(), b.decode().splitlines()
    except UnicodeDecodeError:
        return f"{len(a)} and {len(b)} bytes"
    lines = difflib.unified_diff(a, b, lineterm="", n=0)
    kept = (line[:200] for line in lines if line[:2] not in ("--", "++", "@@"))
    return "\n    ".join(itertools.islice(kept, 8))


def printed(value):
    if isinstance(value, dict):
        return "\n".join(sorted(f"{key}: {json.dumps(value[key])}" for key in value)).encode()
    return json.dumps(value, indent=1, default=str).encode()


def expect(what, a, b, *results):
    """Raises a Difference, with the commands of the results, unless a is b."""
    if a == b:
        return
    if isinstance(a, dict) and isinstance(b, dict):
        a, b = ({k: v for k, v in x.items() if y.get(k) != v} for x, y in ((a, b), (b, a)))
    if not isinstance(a, bytes):
        a, b = map(printed, (a, b))
    commands = "\n  ".join(result.shown for result in results)
    raise Difference(f"{what}:\n    {first_lines_that_differ(a, b)}\n  {commands}")


def expect_same(a, b, json_a=None, json_b=None):
    """Both runs wrote, said and returned the same."""
    expect("statuses", a.status, b.status, a, b)
    for name in sorted(a.files.keys() | b.files.keys()):
        expect(f"contents of {name}", a.files.get(name, b""), b.files.get(name, b""), a, b)
    expect("summaries", json_a or a.json, json_b or b.json, a, b)
    expect("messages", a.messages, b.messages, a, b)


# ---- Contents of recordings -------------------------------------------------------------------

SLICE = re.compile(r"(\S+) (\d+) (\d+) (\d+) (.*?)((?: [a-z_]+=[^ ]*)*)$")


def read_slices(text):
    found = []
    for line in text.decode(errors="surrogateescape").splitlines():
        thread, depth, begin, end, name, args = SLICE.match(line).groups()
        args = dict(arg.split("=", 1) for arg in args.split())
        found.append(Slice(thread, int(depth), int(begin), int(end), name, args))
    return found


def core(slices):
    return collections.Counter(s[:5] for s in slices)


known = {}


def whole(recording):
    """The run of the recording with slices, and the slices; kept, as many checks need it."""
    if recording.path not in known:
        result = run(recording, ["-f", "slices", "--args=full"])
        known.clear()
        known[recording.path] = result, read_slices(result.out())
    return known[recording.path]


def is_deep(recording):
    """Returns whether some slices are left out of trace files."""
    return any(slice_.depth >= 512 for slice_ in whole(recording)[1])


def some_function(random_, recording):
    """A pattern for the name of a function of the recording, most likely one with many calls."""
    slices = [s.name for s in whole(recording)[1] if re.fullmatch(r"\w+", s.name)]
    return random_.choice(slices) if slices else "*"


def some_selection(random_, recording):
    """Options that choose a part of the recording."""
    options = []

    def sometimes(chance, option):
        if random_.random() < chance:
            options.append(option())

    def time():
        begin = random_.uniform(0, 99)
        return f"--time={begin:.3f}%,{random_.uniform(begin, 100):.3f}%"

    def tids():
        some = [str(t["tid"]) for t in whole(recording)[0].json.get("threads", []) if t["tid"] > 0]
        return "--tid=" + ",".join(random_.sample(some, random_.randint(1, len(some)))) if some else "--comm=*"

    sometimes(0.4, time)
    sometimes(0.2, tids)
    sometimes(0.1, lambda: "--cpu=" + random_.choice("0123"))
    sometimes(0.15, lambda: "--mode=" + random_.choice(("user", "kernel")))
    return options


def some_slices(random_, recording):
    """Options that choose among slices."""
    choices = (
        lambda: "--symbol=" + some_function(random_, recording),
        lambda: "--from=" + some_function(random_, recording),
        lambda: "--hide=*" + random_.choice("aeiou") + "*",
        lambda: f"--depth={random_.randint(1, 8)}",
        lambda: f"--min-duration={random_.choice((2, 20, 200, 2000))}ns",
        lambda: f"--between={some_function(random_, recording)},{some_function(random_, recording)}",
        lambda: "--dso=*" + random_.choice(("libc*", "ld*", "s*")),
    )
    return [random_.choice(choices)() for _ in range(random_.choice((0, 0, 1, 1, 2)))]


def some_view(random_, recording):
    """An option that shows the same in another way."""
    return random_.choice(([], [], ["--stacks=magic-trace"], ["--inline"], ["--unnamed=files"]))


def some_form(random_, recording):
    """A format with options that it takes."""
    form = random_.choice(FORMATS)
    options = ["-f", form]
    if form == "histogram":
        options.append("--symbol=" + some_function(random_, recording))
    elif form not in ("branches", "events", "lcov", "bolt", "llvm-profile", "none"):
        options += some_slices(random_, recording)
    if form == "ftf":
        options += random_.choice(
            ([], [f"--counters={random_.choice(('1us', '20us', '1ms'))}"], ["--stacks=flows"], [f"--fit={random_.choice((10, 300, 2000))}"])
        )
    if form in ("folded", "pprof"):
        options += random_.choice(([], [f"--max-stack={random_.choice((1, 3, 30, 'none'))}"]))
    if form not in ("branches", "events", "lcov", "bolt", "llvm-profile", "none"):
        options += some_view(random_, recording)
    options += random_.choice(([], [], ["--args=none"], ["--args=full"]))
    return options


# ---- Checks -----------------------------------------------------------------------------------


def check_threads(random_, recording):
    """Any number of threads writes, counts and says the same."""
    options = some_form(random_, recording) + some_selection(random_, recording)
    environment = {} if SANITIZED else {"LD_PRELOAD": SHIM}
    if os.path.getsize(recording.path) < 1 << 20 or random_.random() < 0.5:
        environment["PTRACE2FTF_SEGMENT"] = random_.choice(("300", "1000", "4096"))
    many = f"-j{random_.choice((2, 3, 5, 8))}"
    expect_same(run(recording, ["-j1"] + options), run(recording, [many] + options, environment))


def check_input(random_, recording):
    """A file, standard input and a pipe are the same recording."""

    def rest(result):
        kept = {k: v for k, v in result.json.items() if k != "inputs"}
        return json.loads(json.dumps(kept).replace(recording.path, "-"))

    options = some_form(random_, recording) + some_selection(random_, recording)
    file = run(recording, options)
    path = recording.path.encode()
    file.messages = file.messages.replace(path, b"-")
    named = re.compile(b'(?<=["\\n])' + re.escape(path) + b'(?=["<])')
    file.files = {name: named.sub(b"-", data) for name, data in file.files.items()}
    for other in ({"stdin": recording.path}, {"pipe": recording.path}):
        result = run(recording, options, **other)
        expect_same(file, result, rest(file), rest(result))


def check_branches(random_, recording):
    """Each format counts the branches, and names the files, of those that --format=branches prints."""

    def counted(result):
        return [result.json["branches"]] + sorted(f["path"] for f in result.json["files"] if f["used"])

    options = some_selection(random_, recording) + ["--no-samples"]
    lines = run(recording, ["-f", "branches"] + options)
    if lines.failed():
        return
    for form in ("ftf", "none", "lcov", "functions"):
        result = run(recording, ["-f", form] + options)
        expect("branches and files", counted(lines), counted(result), lines, result)


def check_args(random_, recording):
    """Arguments do not change slices and their times."""
    options = ["-f", "slices"] + some_selection(random_, recording) + some_slices(random_, recording)
    line = run(recording, options)
    for args in ("none", "full"):
        other = run(recording, options + ["--args=" + args])
        expect("slices", core(read_slices(line.out())), core(read_slices(other.out())), line, other)


def check_ftf(random_, recording):
    """The trace file and the text have the same slices."""
    if is_deep(recording):
        return
    options = some_selection(random_, recording) + some_slices(random_, recording) + ["--no-samples"]
    text = run(recording, ["-f", "slices"] + options)
    trace = run(recording, ["-f", "ftf", "--fit=none"] + options)
    expect("statuses", text.status, trace.status, text, trace)
    if not trace.out():
        return
    expect("slices", b"\n".join(sorted(text.out().splitlines())), b"\n".join(sorted(dump_slices(trace.out()).splitlines())), text, trace)


def dump_slices(trace):
    """Returns the lines of a trace file's slices, but those of the processor's events."""
    dump = Result(BUILD + "/ftfdump", ["--slices", write("out.ftf", trace)], {})
    return b"".join(line for line in dump.stdout.splitlines(True) if not re.search(rb" triggers=|^\S+ \d+ \d+ \d+ transaction\b", line))


def write(name, data):
    with open(f"{WORK}/{name}", "wb") as file:
        file.write(data)
    return file.name


class Sums:
    """Sums of slices: by function, by stack, and by call.  In instructions: they take the place of times."""

    def __init__(self, slices, unit="ns"):
        count = collections.Counter
        self.calls, self.self_ns, self.stack_ns, self.stack_insns, self.edges, self.total = (count() for _ in range(6))
        self.durations = collections.defaultdict(list)
        self.ns = self.insns = 0
        stack = []
        # A slice precedes the slices inside of it.
        for slice_ in slices:
            if MARKS.match(slice_.name):
                continue
            del stack[slice_.depth :]
            # Other formats leave out magic-trace's suffix.
            slice_ = slice_._replace(name=slice_.name.removesuffix(" [inferred start time]"))
            stack.append(slice_.name)
            key, ns, insns = ";".join(stack), slice_.end - slice_.begin, int(slice_.args.get("insns", 0))
            ns = insns if unit == "insns" else ns
            self.calls[slice_.name] += 1
            self.durations[slice_.name].append(ns)
            self.self_ns[slice_.name] += ns
            self.stack_ns[key] += ns
            self.stack_insns[key] += insns
            self.total[slice_.name] += ns if slice_.name not in stack[:-1] else 0
            if slice_.depth:
                self.self_ns[stack[-2]] -= ns
                self.stack_ns[";".join(stack[:-1])] -= ns
                self.stack_insns[";".join(stack[:-1])] -= insns
                self.edges[stack[-2], slice_.name] += 1
            else:
                self.ns += ns
                self.insns += insns


def unit_of(recording):
    """What formats count instead of ns, if times are estimated or invented."""
    answer = run(recording, ["-f", "functions"]).json.get("answer") or {"self_ns": 0}
    return "ns" if "self_ns" in answer else "insns"


def cut(stacks, most):
    """The stacks with --max-stack=MOST."""
    found = collections.Counter()
    for stack, value in stacks.items():
        names = stack.split(";")
        found[stack if len(names) <= most else ";".join(names[:most] + ["[truncated]", names[-1]])] += value
    return found


def rank(sorted_, share):
    return sorted_[max(math.ceil(len(sorted_) * share) - 1, 0)]


def is_quantile(ours, true):
    """Quantiles are exact to one part in 128."""
    return true * 127 / 128 - 1 <= ours <= true


def without_zeros(counter):
    return {k: v for k, v in counter.items() if v}


def by_name(table, unit):
    return {name: {k: sum(row[k] for row in rows) for k in ("calls", "self_" + unit)} for name, rows in table.items()}


def whole_calls(options):
    """Options without those that show a part of a call's callers, which are not counted."""
    return [o for o in options if not o.startswith(("--symbol", "--dso", "--between"))]


def check_functions(random_, recording):
    """The table of functions has the sums and quantiles of the slices."""
    options = some_selection(random_, recording) + some_slices(random_, recording)
    options = whole_calls(options) + ["--args=full"]
    text = run(recording, ["-f", "slices"] + options)
    functions = run(recording, ["-f", "functions"] + options)
    if text.failed():
        return
    answer = functions.json["answer"]
    # Marks of unknown times.
    unit = "ns" if "self_ns" in answer else "insns"
    sums, table = Sums(read_slices(text.out()), unit), collections.defaultdict(list)
    for row in answer["functions"]:
        table[row["function"]].append(row)
    expected = {name: {"calls": n, "self_" + unit: sums.self_ns[name]} for name, n in sums.calls.items()}
    expect("calls and times", expected, by_name(table, unit), text, functions)
    expect("sum of times", sums.ns, answer["self_" + unit], text, functions)
    for name, rows in table.items():
        if len(rows) > 1:
            continue
        row, times = rows[0], sorted(sums.durations[name])
        expect(f"total, min and max of {name}", [sums.total[name], times[0], times[-1]], [row[f"{k}_{unit}"] for k in ("total", "min", "max")], text, functions)
        for key, share in (("median_" + unit, 0.5), ("p99_" + unit, 0.99)):
            if not is_quantile(row[key], rank(times, share)):
                expect(f"{key} of {name}", rank(times, share), row[key], text, functions)


def check_stacks(random_, recording):
    """Call stacks of folded and pprof, and calls of callgrind, have the sums of the slices."""
    options = some_selection(random_, recording) + whole_calls(some_slices(random_, recording)) + some_view(random_, recording)
    text = run(recording, ["-f", "slices", "--args=full"] + options)
    if text.failed():
        return
    sums = Sums(read_slices(text.out()))
    most = random_.choice((1, 2, 5, 20, math.inf))
    limit = ["--max-stack=none" if most == math.inf else f"--max-stack={most}"] + options
    sums.stack_ns, sums.stack_insns = cut(sums.stack_ns, most), cut(sums.stack_insns, most)
    own = sums.stack_ns
    if "--stacks=magic-trace" not in options and unit_of(recording) == "insns":
        own = sums.stack_insns
    folded = run(recording, ["-f", "folded"] + limit)
    stacks = read_folded(folded)
    expect("folded: own times", without_zeros(own), without_zeros(stacks), text, folded)
    check_callgrind(recording, options, sums, text)
    if "pprof" in HELP:
        check_pprof(recording, limit, sums, text)


def read_folded(result):
    """The own time of each stack, without the thread's name."""
    stacks = collections.Counter()
    for line in result.out().decode().splitlines():
        stack, value = line.rsplit(" ", 1)
        stacks[stack.partition(";")[2]] += int(value)
    return stacks


def check_own(random_, recording):
    """The formats have the same own time of each function, whatever callers and short calls are left out."""
    options = some_selection(random_, recording) + some_slices(random_, recording) + some_slices(random_, recording)
    functions = run(recording, ["-f", "functions"] + options)
    if functions.failed() or unit_of(recording) == "insns":
        return
    own = collections.Counter()
    for row in functions.json["answer"]["functions"]:
        own[row["function"]] += row["self_ns"]
    own = without_zeros(own)
    folded, found = run(recording, ["-f", "folded", "--max-stack=none"] + options), collections.Counter()
    for stack, ns in read_folded(folded).items():
        found[stack.rpartition(";")[2]] += ns
    expect("folded: own times", own, without_zeros(found), functions, folded)
    summary = functions.json["functions"]
    if summary["count"] == len(summary["by_self"]):
        expect("summary: own times", sum(own.values()), sum(row["self_ns"] for row in summary["by_self"]), functions)
    callgrind = run(recording, ["-f", "callgrind"] + options)
    expect("callgrind: own times", own, without_zeros(read_callgrind(callgrind)[1]), functions, callgrind)
    if "pprof" in HELP:
        pprof, found = run(recording, ["-f", "pprof", "--max-stack=none"] + options), collections.Counter()
        for stack, ns in read_pprof(pprof)["time"].items():
            found[stack.rpartition(";")[2]] += ns
        expect("pprof: own times", {k.replace(" ", "_"): v for k, v in own.items()}, without_zeros(found), functions, pprof)


def read_pprof(result):
    """The own value of each stack, without the thread's name, by type."""
    dump = subprocess.run([sys.executable, SOURCE + "/tests/cli/pprof.py", write("out.pb.gz", result.out())], capture_output=True, text=True)
    lines = dump.stdout.splitlines()
    types = [t.split("/")[0] for t in lines[0].split()[1:-1]]
    sums_of = {t: collections.Counter() for t in types}
    for line in lines:
        if not line.startswith("stack "):
            continue
        words = line[len("stack ") :].rsplit(" ", len(types) + 1)
        for type_, value in zip(types, words[2:]):
            sums_of[type_][words[0].partition(";")[2]] += int(value)
    return sums_of


def check_pprof(recording, options, sums, text):
    result = run(recording, ["-f", "pprof"] + options)
    if result.failed():
        return
    sums_of = read_pprof(result)
    for type_, expected in (("time", sums.stack_ns), ("instructions", sums.stack_insns)):
        if type_ in sums_of:
            expected = collections.Counter({k.replace(" ", "_"): v for k, v in expected.items()})
            expect(f"pprof: own {type_}", without_zeros(expected), without_zeros(sums_of[type_]), text, result)
    expect("pprof: calls", sum(sums.calls.values()), sum(sums_of["calls"].values()), text, result)


def read_callgrind(result):
    """The calls of one function by another, the own time of each function, and the events."""
    names, edges, own, function, callee = {}, collections.Counter(), collections.Counter(), None, None
    events, called = [], False

    def name(value):
        number, _, text_ = value.partition(" ")
        if text_:
            names[number] = text_
        return names[number]

    for line in result.out().decode().splitlines():
        key, _, value = line.partition("=")
        if line.startswith("events: "):
            events = line.split()[1:]
        elif key == "fn":
            function = name(value)
        elif key == "cfn":
            callee = name(value)
        elif key == "calls":
            edges[function, callee] += int(value.split()[0])
            called = True
        elif line[:1].isdigit() and not called:
            own[function] += int(line.split()[1 + events.index("ns")])
        elif line[:1].isdigit():
            called = False
    return edges, own, events


def check_callgrind(recording, options, sums, text):
    result = run(recording, ["-f", "callgrind"] + options)
    if result.failed():
        return
    edges, own, events = read_callgrind(result)
    expect("callgrind: calls", sums.edges, edges, text, result)
    expect("callgrind: own times", without_zeros(sums.self_ns), without_zeros(own), text, result)
    summary = re.search(rb"^summary: (.*)$", result.out(), re.M).group(1).split()
    totals = dict(zip(events, map(int, summary)))
    expect("callgrind: ns", sums.ns, totals["ns"], text, result)
    expect("callgrind: instructions", sums.insns, totals.get("Ir", 0), text, result)


def check_tids(random_, recording):
    """The slices of each thread alone are those of all."""
    options = [o for o in some_selection(random_, recording) if not o.startswith("--tid")]
    text = run(recording, ["-f", "slices"] + options)
    if text.failed():
        return
    slices = read_slices(text.out())
    for tid in sorted({s.thread.split("/")[1] for s in slices if s.thread.split("/")[1].isdigit()}):
        alone = run(recording, ["-f", "slices", "--tid=" + tid] + options)
        expected = core(s for s in slices if s.thread.split("/")[1] == tid)
        expect(f"slices of thread {tid}", expected, core(read_slices(alone.out())), text, alone)


def check_parts(random_, recording):
    """CPUs, and the two halves of a time, have all branches together."""
    options = ["-f", random_.choice(("ftf", "lcov", "none"))]
    all_ = run(recording, options)
    streams = all_.json.get("streams", [])
    cpus = sorted({s["cpu"] for s in streams if s.get("cpu") is not None})
    parts = [run(recording, options + [f"--cpu={cpu}"]) for cpu in cpus]
    if parts and not any(part.failed() for part in parts):
        expect("branches of CPUs", all_.json["branches"], sum(p.json["branches"] for p in parts), all_, *parts)
    first, last = all_.json["first_time_ns"], all_.json["last_time_ns"]
    middle = random_.randint(first, max(first, last - 1))
    seconds = [f"{t // 10**9}.{t % 10**9:09}" for t in (middle, middle + 1)]
    parts = [run(recording, options + ["--time=" + t]) for t in ("," + seconds[0], seconds[1] + ",")]
    if not any(part.failed() for part in parts):
        expect("branches of halves", all_.json["branches"], sum(p.json["branches"] for p in parts), all_, *parts)


def check_split(random_, recording):
    """The parts of --split have all slices together."""
    options = some_selection(random_, recording) + ["--no-samples"]
    text = run(recording, ["-f", "slices", "--args=full"] + options)
    if text.failed() or is_deep(recording):
        return
    expected = collections.Counter()
    for slice_ in read_slices(text.out()):
        expected[slice_.thread, slice_.name, "calls"] += 1
        expected[slice_.thread, slice_.name, "ns"] += slice_.end - slice_.begin
    size = max(len(text.out().splitlines()) // random_.randint(1, 9), 5)
    path = ["--json=json", "-o", "out.ftf", f"--split={size}"] + options + recording.options + [recording.path]
    split = Result(PROGRAM, path, {})
    found = collections.Counter()
    for name, data in split.files.items():
        for slice_ in read_slices(dump_slices(data)):
            found[slice_.thread, slice_.name, "calls"] += "continued" not in slice_.args
            found[slice_.thread, slice_.name, "ns"] += slice_.end - slice_.begin
    expect("slices", without_zeros(expected), without_zeros(found), text, split)


def check_fit(random_, recording):
    """What --fit folds is counted, and it changes no slice that stays."""
    options = some_selection(random_, recording) + some_view(random_, recording) + ["--no-samples"]
    text = run(recording, ["-f", "slices"] + options)
    fit = run(recording, ["-f", "ftf", f"--fit={random_.choice((2, 30, 300))}"] + options)
    if text.failed() or fit.failed() or is_deep(recording):
        return
    slices, kept = read_slices(text.out()), read_slices(dump_slices(fit.out()))
    if any(slice_.depth >= 512 for slice_ in slices):
        return # an .ftf has no deeper ones
    marks = sum(bool(MARKS.match(s.name)) for s in slices)
    expect("slices that are not among all", {}, dict(core(kept) - core(slices)), text, fit)
    expect("kept and folded", len(slices) - marks, len(kept) + fit.json["slices_folded"], text, fit)
    inside = sum(int(s.args.get("folded", 0)) for s in kept)
    if inside > fit.json["slices_folded"]:
        expect("folded into others", inside, fit.json["slices_folded"], text, fit)


def counts_of_lines(tracefile):
    found, file = collections.Counter(), None
    for line in tracefile.decode().splitlines():
        key, _, value = line.partition(":")
        if key == "SF":
            file = value
        elif key == "FNDA":
            found[file, key, value.partition(",")[2]] += int(value.partition(",")[0])
        elif key in ("DA", "BRDA"):
            at, _, count = value.rpartition(",")
            found[file, key, at] += int(count) if count.isdigit() else 0
    return without_zeros(found)


def check_lcov(random_, recording):
    """The counts of lines, branches and functions of each thread are together those of all."""
    options = ["-f", "lcov"] + [o for o in some_selection(random_, recording) if not o.startswith(("--tid", "--comm"))]
    all_ = run(recording, options)
    tids = sorted({t["tid"] for t in all_.json.get("threads", [])})
    if all_.failed() or not tids or tids[0] <= 0:
        return
    parts = [run(recording, options + [f"--tid={tid}"]) for tid in tids]
    sums = sum((collections.Counter(counts_of_lines(part.out())) for part in parts), collections.Counter())
    expect("counts", counts_of_lines(all_.out()), dict(sums), all_, *parts)


def outermost(slices, function, unit):
    """Yields the lengths of a function's calls; of a recursion the outermost one's."""
    depth = math.inf
    for slice_ in slices:
        if slice_.depth <= depth:
            depth = math.inf
        if slice_.name == function and depth == math.inf:
            depth = slice_.depth
            yield slice_.end - slice_.begin if unit == "ns" else int(slice_.args.get("insns", 0))


def check_answers(random_, recording):
    """The histogram and the slowest calls are those of the slices."""
    function = some_function(random_, recording)
    if function == "*":
        return
    options = ["--symbol=" + function] + some_selection(random_, recording)
    text = run(recording, ["-f", "slices", "--args=full"] + [o for o in options if not o.startswith("--symbol")])
    unit = unit_of(recording)
    times = sorted(outermost(read_slices(text.out()), function, unit))
    histogram = run(recording, ["-f", "histogram"] + options)
    slowest = run(recording, ["--slowest=5"] + options)
    if histogram.failed() or not times:
        return
    rows = [row for row in histogram.json["answer"]["functions"] if row["function"] == function]
    ours = [sum(r["calls"] for r in rows), sum(r["total_" + unit] for r in rows)]
    ours += [min(r["min_" + unit] for r in rows), max(r["max_" + unit] for r in rows)]
    expect("calls, total, min and max", [len(times), sum(times), times[0], times[-1]], ours, text, histogram)
    if len(rows) == 1:
        begins = [bucket["from_" + unit] for bucket in rows[0]["buckets"]] + [math.inf]
        counts = [sum(a <= t < b for t in times) for a, b in zip(begins, begins[1:])]
        expect("buckets", counts, [bucket["calls"] for bucket in rows[0]["buckets"]], text, histogram)
    answer = slowest.json["answer"]
    lengths = [call["duration_ns" if unit == "ns" else "insns"] for call in answer["list"]]
    expect("slowest calls", times[-5:][::-1], lengths, text, slowest)
    expect("number of calls", len(times), answer["calls"], text, slowest)
    for key, share in (("median_ns", 0.5), ("p99_ns", 0.99)) if unit == "ns" else ():
        if not is_quantile(answer[key], rank(times, share)):
            expect(key, rank(times, share), answer[key], text, slowest)


def diff(a, b, options):
    return Result(PROGRAM, ["diff", "--json=json"] + options + a.options + [a.path, b.path], {})


def sides(result, a, b):
    """{function: [row of a, row of b], ...} of functions that differ"""
    found = collections.defaultdict(list)
    for function in result.json.get("functions", []):
        if function[a] != function[b]:
            found[function["name"]].append([function[a], function[b]])
    return {name: sorted(rows, key=str) for name, rows in found.items()}


def check_diff(random_, recording):
    """A recording does not differ from itself, and A from B as B from A."""
    options = random_.choice(([], [], [f"--time={random_.randint(0, 50)}%,"]))
    itself = diff(recording, recording, options)
    expect("differences from itself", {}, sides(itself, "a", "b"), itself)
    other = random_.choice([r for r in recordings if r.options == recording.options] + [recording])
    there, back = diff(recording, other, options), diff(other, recording, options)
    expect("statuses", there.status, back.status, there, back)
    expect("functions", sides(there, "a", "b"), sides(back, "b", "a"), there, back)
    for side, mirrored in ("ab", "ba"):
        counts = [{k: v for k, v in x.json.get(s, {}).items() if k != "input"} for x, s in ((there, side), (back, mirrored))]
        expect("sums", *counts, there, back)
    sums = Sums(read_slices(run(recording, ["-f", "slices", "--args=full"] + options).out()))
    if not there.failed():
        ours = [there.json["a"][k] for k in ("calls", "self_ns", "self_insns")]
        calls = sum(n for name, n in sums.calls.items() if not re.match(r"\[(lost|syscall|untraced|unknown)\b", name))
        expect("calls, time, instructions", [calls, sums.ns, sums.insns], ours, there)


# ---- Running ----------------------------------------------------------------------------------


def damaged(random_, recording):
    """A damaged copy of a recording."""
    seed, path = random_.randint(1, 10**6), WORK + "/damaged"
    command = [BUILD + "/tests/support/mutate_aux", recording.path, path, str(seed)]
    if subprocess.run(command, capture_output=True).returncode:
        return recording
    known.clear()
    return recording._replace(name=recording.name + " damaged", path=path, made_by=" ".join(command))


def compare(name, check, seed):
    """Makes one comparison.  Returns whether it found no difference."""
    random_ = random.Random(seed)
    recording = random_.choice(recordings)
    if random_.random() < 0.4:
        recording = damaged(random_, recording)
    try:
        check(random_, recording)
    except Difference as difference:
        print(f"{name}: {recording.name}: {difference}")
        if recording.made_by:
            print(f"  the recording: {recording.made_by}")
        sys.stdout.flush()
        return False
    return True


def read_list(path):
    for line in open(path):
        name, file, *options = line.rstrip("\n").split("\t")
        yield Recording(name, os.path.abspath(file), [o for o in options if o], "")


list_, seed, count = sys.argv[1:]
recordings = list(read_list(list_))
checks = {n[len("check_") :]: f for n, f in globals().items() if n.startswith("check_") and n not in ("check_pprof", "check_callgrind")}
if os.environ.get("ONLY"):
    checks = {name: checks[name] for name in os.environ["ONLY"].split(",")}
# Half of all checks compare numbers of threads, where most can go wrong.
order = list(itertools.islice(itertools.cycle(x for name in checks for x in ("threads", name) if x in checks), int(count)))
passed = [compare(name, checks[name], f"{seed}.{i}") for i, name in enumerate(order)]
if os.environ.get("KEEP"):
    print("files are in", WORK)
else:
    shutil.rmtree(WORK)
print(f"{passed.count(False)} of {len(passed)} comparisons differ")
sys.exit(not all(passed) or not passed)
