#!/bin/sh
# SPDX-License-Identifier: MIT
# --split: the parts are whole traces, and together they are the trace.
. "$top_srcdir/tests/support/tap.sh"
program=$top_builddir/ptrace2ftf
ftfdump=$top_builddir/ftfdump
ptsim=$top_builddir/tests/ptsim/ptsim
programs=$top_builddir/tests/programs/static
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

"$ptsim" record --cyc --cpus=2 --seed=3 -o threads -- "$programs/threads" >/dev/null 2>messages ||
	tap_skip_all "programs cannot be traced here: $(cat messages)"
"$program" -q --args=full --format=slices threads >whole

# A continued slice is joined with the last one of its thread and depth.
joined() {
	awk '{ key = $1 " " $2
		insns = 0
		for (i = 6; i <= NF; i++)
			if ($i ~ /^insns=/) insns = substr($i, 7) }
		/ continued=true/ {
			n = last[key]
			if (end[n] != $3 || name[n] != $5) { print "not continued: " $0; bad = 1 }
			end[n] = $4
			sum[n] += insns
			next
		}
		{ last[key] = ++count; id[count] = key; begin[count] = $3; end[count] = $4
		  name[count] = $5; sum[count] = insns }
		END { for (i = 1; i <= count; i++) print id[i], begin[i], end[i], name[i], sum[i]
		      exit bad }' "$@" | sort
}
joined whole >expected

parts() { # N SIZE: so many parts, at least
	rm -f out.*
	"$program" -q --args=full --split="$2" -o out.ftf threads || return 1
	for part in out.*.ftf; do
		"$ftfdump" --check "$part" >/dev/null || return 1
		"$ftfdump" --slices "$part" >"${part%.ftf}.slices"
	done
	[ ! -e out.ftf ] && [ "$(ls out.*.ftf | wc -l)" -ge "$1" ] || { ls; return 1; }
	joined out.*.slices >ours && diff expected ours
}
tap_check "by slices: the parts make the whole" parts 5 1000
new_slices() { # each part but the last has exactly so many new ones
	for part in out.*.slices; do
		grep -vc continued=true "$part"
	done | sed '$d' | sort -u | grep -qx 1000
}
tap_check "by slices: every part has so many" new_slices
# The line of the call, also where a slice is continued.
callers() {
	awk '{ key = $1 " " $2; caller = ""
		for (i = 6; i <= NF; i++)
			if ($i ~ /^caller=/) caller = $i }
		/ continued=true/ {
			if (caller != last[key]) { print "another caller: " $0; bad = 1 }
			next
		}
		{ last[key] = caller; print key, $3, $5, caller }
		END { exit bad }' "$@" | sort
}
same_callers() {
	callers whole >wanted && grep -q caller= wanted && callers out.*.slices | cmp wanted -
}
tap_check "by slices: each slice has its caller, also continued" same_callers
folded() { # FILE...: how many are folded, and how long they took
	sed -n 's/.* folded=\([0-9]*\) folded_time=\([0-9]*\).*/\1 \2/p' "$@" | awk '{ n += $1; t += $2 } END { print n, t }'
}
same_folded() {
	"$program" -q --min-duration=200ns --format=slices threads >wanted
	rm -f short.*
	"$program" -q --min-duration=200ns --split=50 -o short.ftf threads || return 1
	for part in short.*.ftf; do
		"$ftfdump" --slices "$part"
	done >ours
	[ "$(folded wanted | cut -d ' ' -f 1)" -gt 100 ] && [ "$(folded wanted)" = "$(folded ours)" ]
}
tap_check "by slices: what is too short is counted in all parts together" same_folded
tap_check "by few slices: the parts make the whole" parts 100 50
# Bytes are handed on 64 KiB at a time.
sizes() {
	"$ptsim" record --per-thread --repeat=300000 -o long -- "$programs/indirect" >/dev/null 2>&1
	"$program" -q --args=line --split=1MB -o long.ftf long || return 1
	stat -c %s long.*.ftf | sed '$d' | awk '$1 < 1000000 || $1 > 1100000 { print; wrong = 1 } END { exit wrong || NR < 2 }' &&
		"$program" -q --format=slices long | joined >expected && for part in long.*.ftf; do
			"$ftfdump" --slices "$part"
		done | joined | cmp expected -
}
tap_check "by size: the parts are of about that size, and make the whole" sizes
joined whole >expected
tap_check "by time: the parts make the whole" parts 8 20us
# Slices of a part begin in one stretch of time: the parts are 20 us long, from the first slice.
stretches() {
	first=$(awk '{ print $3 }' out.000.slices | sort -n | head -n 1)
	for part in out.*.slices; do
		grep -v continued=true "$part" | awk -v first="$first" '{ print int(($3 - first) / 20000) }' | sort -u | wc -l
	done | sort -u | grep -qx 1
}
tap_check "by time: parts begin at multiples of it" stretches
names_in_each() {
	for part in out.*.ftf; do
		"$ftfdump" --names "$part" | grep -q '^process [0-9]* threads' || return 1
	done
}
tap_check "every part names its process" names_in_each

# Other events are in the part of their time, and a part begins with the state of that time.
cat >beside.py <<'END'
import re, subprocess, sys
from collections import Counter

def events(path):  # (kind, time, what it is of, the rest)
    text = subprocess.run([sys.argv[1], path], capture_output=True, text=True, check=True).stdout
    for line in text.splitlines():
        kind, rest = (line.split(' ', 2) + [''])[1:3]
        if kind in ('context-switch', 'thread-wakeup'):
            found = re.match(r'(cpu \d+) (\d+) (.*)', rest)
            yield kind, int(found[2]), found[1], found[3]
        elif re.match('instant|counter|flow|async', kind):
            found = re.match(r'(\S+) (\d+) (.*?( id \d+)?)($| \w+=.*)', rest)
            yield kind, int(found[2]), found[1] + ' ' + found[3], found[5]

def state_of(event):  # None: it has no state, '': it ends one
    kind, time, of, rest = event
    if kind == 'context-switch':
        return '' if ' to 0 ' in rest else re.search(r' to (\d+ .*weight=\d+)', rest)[1]
    if kind in ('async-begin', 'async-end'):
        return 'open' if kind == 'async-begin' else ''
    return rest if kind == 'counter' else None

whole, state, ended, latest = Counter(events(sys.argv[2])), {}, {}, 0
for part in sys.argv[3:]:
    listed, own = list(events(part)), []
    for event in listed:
        if whole[event]:
            whole[event] -= 1
            own.append(event)
    repeated = [e for e in (Counter(listed) - Counter(own)).elements() if e[0] != 'async-end']
    # A slice that ends at the cut has two ends, the first one for the cut.
    held = {(e[0], e[2]): state_of(e) for e in repeated if ended.get((e[0], e[2])) != e[1]}
    assert held == state, (part, set(held.items()) ^ set(state.items()))
    assert len({e[1] for e in repeated}) <= 1, (part, repeated)
    for event in repeated[:1] + own:
        assert event[1] >= latest, (part, event, latest)
        latest = event[1]
    for event in own:
        key = event[0].replace('end', 'begin'), event[2]
        if state_of(event):
            state[key] = state_of(event)
        elif state_of(event) == '':
            state.pop(key, None)
            ended[key] = event[1]
assert not +whole, +whole
END
beside() { # SIZE KINDS OPTIONS...: of at least so many kinds
	size=$1 kinds=$2
	shift 2
	rm -f all.ftf out.*
	"$program" -q --no-warn "$@" -o all.ftf && "$program" -q --no-warn --split="$size" "$@" -o out.ftf || return 1
	for part in all.ftf out.*.ftf; do
		"$ftfdump" --check "$part" >/dev/null && "$ftfdump" --slices "$part" >"${part%.ftf}.slices" || return 1
	done
	[ "$(ls out.*.ftf | wc -l)" -ge 5 ] && python3 beside.py "$ftfdump" all.ftf out.*.ftf || return 1
	[ "$("$ftfdump" all.ftf | grep -oE ' (instant|counter|context-switch|flow-begin|async-begin) ' | sort -u | wc -l)" -ge "$kinds" ] &&
		joined all.slices >wanted && joined out.*.slices | diff wanted -
}
shared=$top_srcdir/../shared/ocaml/combined/single
if ! command -v python3 >/dev/null; then
	tap_skip "context switches and counters are in the part of their time" "no python3"
else
	tap_check "context switches and counters are in the part of their time" beside 200 2 threads
	tap_check "also in parts of a time" beside 20us 2 threads
	if [ -d "$shared" ]; then
		gunzip -c "$shared"/*.events.gz >"1.events"
		for size in 2k 200kB 5ms; do
			tap_check "so are overlays, with their open slices: $size" beside $size 4 --runtime-events=1.events \
				--memtrace="$shared/out.ctf,lives"
		done
	else
		tap_skip "so are overlays" "no ../shared"
	fi
fi

compressed() {
	rm -f out.*.ftf
	"$program" -q --args=full --split=1000 -o packed.ftf.gz threads && "$program" -q --args=full --split=1000 -o out.ftf threads &&
		gzip -dc packed.003.ftf.gz | cmp - out.003.ftf
}
tap_check "compressed parts keep their ending" compressed
named_by_input() {
	"$program" -q --split=1000 threads && [ -s threads.000.ftf ]
}
tap_check "without -o they are beside the input" named_by_input
longer_series() {
	"$program" --split=1000 -o old.ftf threads 2>messages
	[ $? -eq 0 ] && ! grep -q 'earlier --split' messages || return 1
	"$program" --split=100k -o old.ftf threads 2>messages
	[ $? -eq 2 ] && grep -q 'warning: old.001.ftf and later parts are from an earlier --split' messages
}
tap_check "parts of an earlier, longer series are named in a warning" longer_series
# The first part can be written; the second part's name is a directory.
fails() {
	mkdir -p taken.001.ftf
	"$program" --split=1000 -o taken.ftf threads 2>messages
	[ $? -eq 1 ] && grep -q 'taken.001.ftf' messages && [ ! -e taken.000.ftf ]
}
tap_check "if a part cannot be written, none is left" fails

wrong() { # OPTIONS
	"$program" "$@" threads >/dev/null 2>messages
	[ $? -eq 64 ]
}
tap_check "--split=0 is wrong usage" wrong --split=0
tap_check "--split into standard output is wrong usage" wrong --split=1M -o -
tap_check "--split of text is wrong usage" wrong --split=1M --format=slices
tap_done
