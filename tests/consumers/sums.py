# SPDX-License-Identifier: MIT
# The sums of an output of ptrace2ftf: sums.py FORMAT FILE prints "NS [INSNS [CYCLES]]" of the outermost
# slices of all threads, or of all functions' own code; of --format=why nothing. Fails if the output
# contradicts itself.
import decimal, json, re, subprocess, sys


def text(path):
    """--format=slices with --args=full, and ftfdump --slices: PID/TID LEVEL BEGIN END NAME ARGUMENTS"""
    for line in open(path, errors="replace"):
        level, begin, end = map(int, line.split()[1:4])
        costs = [re.search(r" %s=(\d+)" % key, line) for key in ("insns", "cycles")]
        if level == 0:
            yield [end - begin] + [int(cost[1]) if cost else 0 for cost in costs]


def chrome(path):
    ends, ns = {}, decimal.Decimal("0.001")
    for event in json.load(open(path), parse_float=decimal.Decimal)["traceEvents"]:
        if event["ph"] == "X":
            key, begin = (event["pid"], event["tid"]), event["ts"]
            if begin >= ends.get(key, 0):  # picoseconds keep the order of equal times
                end = ends[key] = begin + event["dur"]
                args = event.get("args", {})
                yield [int(end / ns) - int(begin / ns), args.get("insns", 0), args.get("cycles", 0)]


def speedscope(path):
    for profile in json.load(open(path))["profiles"]:
        depth = 0
        for event in profile["events"]:
            if event["type"] == "O":
                begin = event["at"] if depth == 0 else begin
            depth += 1 if event["type"] == "O" else -1
            if depth == 0:
                yield [event["at"] - begin]


def tree(path):
    units, found = {"us": 1000, "ms": 1000000, "s": 1000000000}, []
    for line in open(path, errors="replace"):
        found += re.findall(r"^ *([\d.]+) +(\w+) \[.*?\] \| \S", line)
    total, wanted = sum(int(decimal.Decimal(time) * units[unit]) for time, unit in found), int(sys.argv[3])
    rounded = sum(units[unit] // 1000 - 1 for _, unit in found)  # of times from 1 ms on
    return [[wanted if abs(total - wanted) <= rounded else total]]


def html(path):
    page = [sys.executable, sys.argv[3]]
    functions = json.loads(subprocess.check_output(page + ["functions", path]))
    costs = subprocess.check_output(page + ["costs", path], text=True, errors="replace")
    levels = subprocess.check_output(page + ["slices", path], text=True, errors="replace")
    sums = []
    for cost, level in zip(costs.splitlines(), levels.splitlines()):
        begin, end, insns, cycles = map(int, cost.rsplit(None, 6)[1:5])
        if level.split()[1] == "0":
            sums.append([end - begin, insns, cycles])
    assert sum(row["self_ns"] for row in functions) == sum(row[0] for row in sums)
    return sums


def diff(path):
    """Of a recording with itself."""
    found = json.load(open(path))
    for key in ("self_ns", "self_insns", "calls"):  # system calls and interrupts are no calls
        rows = [row for row in found["functions"] if key != "calls" or row["name"][0] != "["]
        assert found["a"][key] == found["b"][key] == sum(row["a"][key] for row in rows)
    assert all(row["a"] == row["b"] for row in found["functions"])
    return [[found["a"]["self_ns"], found["a"]["self_insns"]]]


def why(path):
    """The parts of the extra time are all of it, with the ones left out."""
    for function in json.load(open(path))["functions"]:
        for cluster in function["clusters"]:
            parts = sum(line["share"] for line in cluster["lines"] if line["leaf"])
            assert abs(parts + cluster["rest_share"] - 1) < 1e-6, cluster
    return []


print(*map(sum, zip(*globals()[{"slices": "text", "ftf": "text"}.get(sys.argv[1], sys.argv[1])](sys.argv[2]))))
