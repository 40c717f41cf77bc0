# SPDX-License-Identifier: MIT
"""Simulates a conversion with 1 to 64 threads from a log of its jobs (job_log.c).

Prints the share of the CPU time that is done in order, and the time that N threads would take
on N CPUs of their own: threads take the ordered stage first, then segments to decode, then
slices to encode; one thread at a time runs the stage, and one encodes.  What happens before and
behind the jobs (opening, names of the summary) is not in the log."""
import sys


def read_log(path):
    """Returns the ns of each segment to decode, of each in the stage, and of all to encode."""
    begun, decode, stage = {}, {}, []
    taken, last, since, inner, encode = [], None, {}, {}, 0
    for line in open(path):
        event, job, thread, ns = line.split()
        ns = int(ns)
        if event == "job":
            begun.setdefault(thread, []).append((job, ns))
        elif event == "job-end":
            job, begin = begun[thread].pop()
            cost = ns - begin
            if thread in since:  # the stage helps: it encodes
                inner[thread] = inner.get(thread, 0) + cost
                encode += cost
            else:
                decode.setdefault(job, []).append(cost)
        elif event == "stage":
            since[thread] = ns
            inner[thread] = 0
        elif event == "needs" and thread in since:
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
    jobs = set(taken)
    for job, costs in decode.items():
        if job not in jobs:
            encode += sum(costs)
    rounds, costs = {}, []
    for job in taken:
        i = rounds[job] = rounds.get(job, -1) + 1
        costs.append(decode[job][i] if i < len(decode.get(job, [])) else 0)
    return costs, stage[1:] + stage[:1], encode


def simulate(threads, decode, stage, encode):
    count = len(decode)
    share = [encode * cost / sum(stage) for cost in stage]  # slices take the time of both
    free, done = [0] * threads, [None] * count
    next_decode = next_stage = next_encode = 0
    stage_end, encode_end, stage_ends = 0, 0, []
    while next_encode < count:
        thread = free.index(min(free))
        now, options = free[thread], []
        if next_stage < next_decode and done[next_stage] is not None:
            options.append((max(now, stage_end, done[next_stage]), 0))
        if next_decode < count and next_decode < next_stage + threads + 2:
            ready = stage_ends[next_decode - threads - 2] if next_decode >= threads + 2 else 0
            options.append((max(now, ready), 1))
        if next_encode < next_stage:
            options.append((max(now, encode_end, stage_ends[next_encode]), 2))
        begin, kind = min(options)
        if kind == 0:
            stage_end = free[thread] = begin + stage[next_stage]
            stage_ends.append(stage_end)
            next_stage += 1
        elif kind == 1:
            done[next_decode] = free[thread] = begin + decode[next_decode]
            next_decode += 1
        else:
            encode_end = free[thread] = begin + share[next_encode]
            next_encode += 1
    return max(free)


decode, stage, encode = read_log(sys.argv[1])
sums = [sum(decode), sum(stage), encode]
whole = sum(sums)
print(f"{len(decode)} segments, {whole / 1e9:.3f} s of CPU: decoding {100 * sums[0] / whole:.0f} %, in order "
      f"{100 * sums[1] / whole:.0f} % (merging, names, stacks) and {100 * sums[2] / whole:.0f} % (sorting, encoding, writing)")
for threads in (1, 2, 4, 8, 16, 64):
    time = simulate(threads, decode, stage, encode)
    print(f"{threads} threads: {time / 1e9:.3f} s, {whole / time:.2f} times as fast as one")
