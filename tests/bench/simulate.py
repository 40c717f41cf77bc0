# SPDX-License-Identifier: MIT
"""Simulates a conversion with 1 to 64 threads from a log of its jobs (job_log.c).

Prints the share of the CPU time that is done in order, and the time that N threads would take
on N CPUs of their own: threads take the ordered stage first, then segments to decode, then
slices to sort, slices to encode and bytes to write; one thread at a time does each of these.  Encoding
begins when all debug information is unpacked, by jobs beside those that decode.  What happens before and after the jobs (opening, names of the summary) is not in the log."""
import sys


def read_log(path):
    """Returns the ns of each segment to decode, of each in the stage, of all to sort, encode and write,
    and of each section of debug information to unpack."""
    begun, ran, stage, jobs = {}, {}, [], []
    taken, last, since, inner = [], None, {}, {}
    for line in open(path):
        event, job, kind, thread, ns = line.split()
        ns = int(ns)
        if event == "job":
            begun.setdefault(thread, []).append([job, ns, 0])
            if (kind, job) not in jobs:
                jobs.append((kind, job))
        elif event == "job-end":
            job, begin, nested = begun[thread].pop()
            if begun[thread]:  # a job helps, or
                begun[thread][-1][2] += ns - begin
            elif thread in since:  # the stage does
                inner[thread] = inner.get(thread, 0) + ns - begin
            ran.setdefault(kind, {}).setdefault(job, []).append(ns - begin - nested)
        elif event == "stage":
            since[thread] = ns
            inner[thread] = 0
        elif event == "needs" and thread in since:
            decodes = kind
            if job != last:
                taken.append(job)
                stage.append(0)
                last = job
            stage[-1] += ns - since[thread] - inner[thread]
            since[thread], inner[thread] = ns, 0
        elif event == "stage-end":
            if stage:
                stage[-1] += ns - since[thread] - inner[thread]
            del since[thread]
    # The time up to asking for a segment is that of the segment before.
    # Segments have jobs of one kind, and sections; what comes after the stage are three others, in
    # this order.
    sections = [kind for kind in ran if kind != decodes and len(ran[kind]) > 2]
    unpack = [sum(times) for kind in sections for times in ran[kind].values()]
    beside = [sum(ran.get(kind, {}).get(job, [])) for kind, job in jobs if kind not in [decodes, *sections]]
    beside = (beside + [0, 0, 0])[:3]
    decode, rounds, costs = ran[decodes], {}, []
    for job in taken:
        i = rounds[job] = rounds.get(job, -1) + 1
        costs.append(decode[job][i] if i < len(decode.get(job, [])) else 0)
    return costs, stage[1:] + stage[:1], beside, unpack


def simulate(threads, decode, stage, beside, unpack):
    count, all_stage = len(decode), sum(stage)
    # What is in order, for each segment: slices and bytes take the time of the stage in proportion.
    ordered = [stage] + [[whole * cost / all_stage for cost in stage] for whole in beside]
    ends, busy = [[] for _ in ordered], [0] * len(ordered)
    free, done, unpacked = [0] * threads, [], []
    while len(ends[-1]) < count:
        thread = free.index(min(free))
        now, options = free[thread], []
        for step, costs in enumerate(ordered):
            before, at = ends[step - 1] if step else done, len(ends[step])
            if at < len(before) and (step != 2 or len(unpacked) == len(unpack)):
                ready = max(unpacked, default=0) if step == 2 else 0
                options.append((max(now, busy[step], before[at], ready), step + (step > 0), step, costs[at]))
        ahead = len(done) - threads - 2
        if len(done) < count and ahead < len(ends[0]):
            options.append((max(now, ends[0][ahead] if ahead >= 0 else 0), 1, None, decode[len(done)]))
        if len(unpacked) < len(unpack) and ends[0]:  # names were asked for
            options.append((max(now, ends[0][0]), 1, "unpack", unpack[len(unpacked)]))
        begin, _, step, cost = min(options, key=lambda option: option[:2])
        free[thread] = begin + cost
        if step == "unpack":
            unpacked.append(free[thread])
        elif step is None:
            done.append(free[thread])
        else:
            busy[step] = free[thread]
            ends[step].append(free[thread])
    return max(free)


decode, stage, beside, unpack = read_log(sys.argv[1])
sums = [sum(decode), sum(stage), *beside, sum(unpack)]
whole = sum(sums)
names = ["decoding", "in order (merging, names, stacks)", "sorting", "encoding", "writing",
         "unpacking debug information"]
print(f"{len(decode)} segments, {whole / 1e9:.3f} s of CPU: "
      + ", ".join(f"{name} {cost / 1e6:.1f} ms ({100 * cost / whole:.0f} %)" for name, cost in zip(names, sums)))
for threads in (1, 2, 4, 8, 16, 64):
    time = simulate(threads, decode, stage, beside, unpack)
    print(f"{threads} threads: {time / 1e9:.3f} s, {whole / time:.2f} times as fast as one")
