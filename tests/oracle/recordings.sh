#!/bin/sh
# SPDX-License-Identifier: MIT
# Real recordings, and some with ground truth, against the results of perf script, libipt
# and the recordings' authors, and against the truth.
. "$top_srcdir/tests/support/tap.sh"
recordings=$top_srcdir/../shared/recordings
[ -d "$recordings" ] || tap_skip_all "no shared recordings"
program=$top_builddir/ptrace2ftf
ftfdump=$top_builddir/ftfdump
awk_script=$top_srcdir/tests/oracle/branches.awk
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

normal() { # FILE [-v VAR=VALUE]...: branches per thread in one form
	normal_file=$1
	shift
	awk "$@" -f "$awk_script" "$normal_file" | sort -s -k1,1n
}

same() { # A B
	cmp -s "$1" "$2" && return 0
	diff "$1" "$2" | head -20
	return 1
}

# Convert a recording in all forms, and check the rules that each output must keep.
converts() { # STATUS OPTIONS... FILE
	expected=$1
	shift
	"$program" "$@" -o "$work/out.ftf" 2>"$work/messages"
	status=$?
	[ $status -eq "$expected" ] || { echo "status $status"; cat "$work/messages"; return 1; }
	"$ftfdump" --slices "$work/out.ftf" >"$work/all-slices" || return 1
	# Side events have tracks beside the threads.
	"$ftfdump" --names "$work/out.ftf" | awk '$1 == "thread" && $3 ~ /^(CPU|transactions)$/ { print $2 }' >"$work/tracks"
	awk -F'[/ ]' 'FILENAME != "-" { track[$1]; next } !($2 in track)' "$work/tracks" - \
		<"$work/all-slices" >"$work/read-back"
	"$program" -q --format=slices "$@" >"$work/slices"
	[ $? -eq "$expected" ] || return 1
	same "$work/slices" "$work/read-back"
}

branches() { # OPTIONS... FILE: into $work/ours
	"$program" -q --no-warn --format=branches "$@" >"$work/branches" || return 1
	normal "$work/branches" >"$work/ours"
}

# Every byte of trace is decoded, skipped or lost, by each engine.
counts_all_bytes() { # OPTIONS... FILE
	for engine in fast libipt; do
		"$program" --engine=$engine --no-warn --format=none "$@" 2>"$work/messages" || return 1
		sed -n 's/.* \([0-9]*\) bytes of trace.*/\1/p' "$work/messages" | grep -q . || return 1
		sed -n 's/.* \([0-9]*\) bytes of trace (\([0-9]*\) decoded, \([0-9]*\) [^,]*, \([0-9]*\) lost).*/\1 \2 \3 \4/p' \
			"$work/messages" | awk '$1 != $2 + $3 + $4 { print; bad = 1 } END { exit bad }' || return 1
	done
}

# ---- Ground truth ----------------------------------------------------------

truth_options() { # NAME
	echo "--symfs=$recordings/truth/symfs --vdso=$recordings/truth/$1/vdso.so"
}

read_truth() { # NAME: into $work/truth, without the lost stretches' marks
	gzip -dc "$recordings/truth/$1/truth.branches.gz" >"$work/truth.full"
	normal "$work/truth.full" -v truth=1 | grep -Ev ' (ovf|lost|lostend) ' >"$work/truth"
}

equals_truth() { # NAME
	read_truth "$1"
	# shellcheck disable=SC2046 # words
	branches $(truth_options "$1") "$recordings/truth/$1/perf.data" || return 1
	same "$work/ours" "$work/truth"
}

# Each difference has a gap of ours in it, and adds only where it resumes.
differs_at_gaps_only() {
	diff "$work/truth" "$work/ours" >"$work/diff"
	awk '/^[0-9]/ { if (hunk && !gap) bad = 1; hunk = 1; gap = 0; next }
	     /^>/ { if ($3 == "gap") gap = 1; else if ($3 != "resume") bad = 1 }
	     END { exit bad || hunk && !gap }' "$work/diff" && return 0
	head -20 "$work/diff"
	return 1
}

# At most the lost bytes are missing from the truth.
loses_no_more_than() { # LINES
	missing=$(grep -c '^<' "$work/diff")
	[ "$missing" -le "$1" ] || { echo "$missing branches are missing, $1 were lost"; return 1; }
}

equals_truth_outside_overflows() { # NAME
	read_truth "$1"
	# shellcheck disable=SC2046
	branches $(truth_options "$1") "$recordings/truth/$1/perf.data" || return 1
	differs_at_gaps_only &&
		loses_no_more_than "$(awk '$6 == "ovf" { on = 1 } on { n++ } $6 == "ovfend" { on = 0 }
			END { print n }' "$work/truth.full")"
}

# Code written at run time has no bytes: its branches are missing, and no branch is invented.
equals_truth_outside_jit() { # NAME
	read_truth "$1"
	# shellcheck disable=SC2046
	branches $(truth_options "$1") "$recordings/truth/$1/perf.data" || return 1
	for list in truth ours; do
		grep -Ev ' (gap|resume) ' "$work/$list" >"$work/$list.flow"
	done
	diff -d "$work/truth.flow" "$work/ours.flow" >"$work/diff"
	! grep '^>' "$work/diff" && loses_no_more_than "$(($(wc -l <"$work/truth") / 50))"
}

# In snapshot mode the file has the end of the trace.
is_the_truths_end() { # NAME
	read_truth "$1"
	# shellcheck disable=SC2046
	branches $(truth_options "$1") "$recordings/truth/$1/perf.data" || return 1
	tail -n "$(wc -l <"$work/ours")" "$work/truth" >"$work/end"
	same "$work/ours" "$work/end" || return 1
	command -v perf >/dev/null || return 0
	perf script -i "$recordings/truth/$1/perf.data" --symfs "$recordings/truth/symfs" \
		--itrace=b -F pid,tid,time,flags,ip,addr --ns >"$work/perf" 2>/dev/null
	[ "$(wc -l <"$work/perf")" -eq "$(wc -l <"$work/ours")" ] ||
		{ echo "perf gives $(wc -l <"$work/perf") branches"; return 1; }
}

has_the_truths_kinds() { # NAME
	# shellcheck disable=SC2046
	"$program" -q --no-warn --format=branches $(truth_options "$1") "$recordings/truth/$1/perf.data" |
		awk -f "$awk_script" | cut -d ' ' -f 2 |
		awk '{ n[$1]++ } END { for (k in n) print n[k], k }' | sort >"$work/kinds"
	awk '{ k = $2; if (k == "icall") k = "call"; if (k == "ijmp") k = "jmp"; if (k == "ret") k = "return"
	       n[k] += $1 } END { for (k in n) print n[k], k }' \
		"$recordings/truth/$1/truth.kinds.tsv" | sort >"$work/kinds.truth"
	same "$work/kinds" "$work/kinds.truth"
}

# Tail calls have slices as well, so there are more of them.
each_call_has_a_slice() { # NAME
	# shellcheck disable=SC2046
	"$program" -q --no-warn --format=slices $(truth_options "$1") "$recordings/truth/$1/perf.data" \
		>"$work/slices" || return 1
	slices=$(awk '$5 !~ /^\[(syscall|untraced|lost)/' "$work/slices" | wc -l)
	calls=$(awk '$2 ~ /call$/ { n += $1 } END { print n }' "$recordings/truth/$1/truth.kinds.tsv")
	[ "$slices" -ge "$calls" ] || { echo "$slices slices of $calls calls"; return 1; }
}

for folder in "$recordings"/truth/*/perf.data; do
	name=$(basename "$(dirname "$folder")")
	status=0
	case $name in
	big-sqlite)
		# Of 4.7 million branches: 20 s.
		[ -z "$LONG" ] || tap_check "$name: as many branches of each kind as the truth" has_the_truths_kinds "$name"
		tap_check "$name: a slice for each of the truth's calls" each_call_has_a_slice "$name"
		;;
	*-ovf)
		status=2
		tap_check "$name: the truth's branches outside of overflows" equals_truth_outside_overflows "$name"
		;;
	*-snapshot)
		tap_check "$name: the end of the truth's branches" is_the_truths_end "$name"
		;;
	jit)
		status=2
		tap_check "$name: the truth's branches but in code without bytes" equals_truth_outside_jit "$name"
		;;
	*)
		[ "$name" != tiny-notime ] || status=2
		tap_check "$name: exactly the truth's branches" equals_truth "$name"
		;;
	esac
	# shellcheck disable=SC2046
	[ "$name" = big-sqlite ] ||
		# shellcheck disable=SC2046
		tap_check "$name: every byte of trace is accounted for" counts_all_bytes $(truth_options "$name") "$folder"
	tap_check "$name: a sound trace, the same as --format=slices" \
		converts $status $(truth_options "$name") "$folder"
done

# ---- Real hardware ---------------------------------------------------------

hase=$recordings/hase-2018-04
# perf does not know code without a symbol.
as_perf() {
	sed -E 's/ [^ ]*[+]0x[0-9a-f]+[+]0x[0-9a-f]+/ [unknown]/g'
}

equals_perf_with_symbols() { # FOLDER
	"$program" -q --format=branches --symfs="$hase/symfs" "$1/perf.data" >"$work/branches" || return 1
	grep ' => ' "$work/branches" | sed 's/^[^:]*: //' | as_perf >"$work/ours"
	grep ' => ' "$1/perf-script.bep.txt" | sed 's/^[^:]*: //' >"$work/perf"
	same "$work/ours" "$work/perf"
}

equals_the_authors() { # FOLDER
	awk '/ => / { n = split($0, half, " => "); split(substr(half[1], index(half[1], ": ") + 25), f, " ")
		split(half[2], t, " "); print f[1] "\t" t[1] }' "$work/branches" >"$work/ours"
	tr -d '\r' <"$1/authors.trace" >"$work/authors"
	same "$work/ours" "$work/authors"
}

for name in control_flow loopy; do
	# seeds.md: branches with source, target, kind and flags (--itrace=b)
	# seeds.md: decode converts a recording that was made elsewhere
	tap_check "hase $name: flags, addresses, symbols and offsets as perf" equals_perf_with_symbols "$hase/$name"
	tap_check "hase $name: the authors' own branch list" equals_the_authors "$hase/$name"
	tap_check "hase $name: every byte of trace is accounted for" \
		counts_all_bytes --symfs="$hase/symfs" "$hase/$name/perf.data"
	tap_check "hase $name: a sound trace" converts 0 --symfs="$hase/symfs" "$hase/$name/perf.data"
done

# The same authors' snapshots: the end of the trace, in a buffer that perf copied whole.
more=$top_srcdir/../shared/more
equals_perf_with_times() { # FOLDER
	"$program" -q --format=branches --symfs="$1/binaries" "$1/recording" >"$work/branches" || return 1
	grep ' => ' "$work/branches" | as_perf >"$work/ours"
	grep ' => ' "$1"/perf-*-script.itrace-bep.txt >"$work/perf"
	same "$work/ours" "$work/perf"
}
for folder in "$more"/hase-2018-05/*/; do
	[ -d "$folder" ] || break
	name=$(basename "$folder")
	tap_check "hase $name: all that perf prints" equals_perf_with_times "$folder"
	tap_check "hase $name: every byte of trace is accounted for" \
		counts_all_bytes --symfs="$folder/binaries" "$folder/recording"
	tap_check "hase $name: a sound trace" converts 0 --symfs="$folder/binaries" "$folder/recording"
done

# Real trace without timing packets, of LLDB's tests and of fuzzers. No other decoder decodes all
# of it; wrong branches would not fit the code.
fits_the_code() { # FOLDER BRANCHES GAPS: at least so many branches
	"$program" -q --no-warn --format=branches --symfs="$1/symfs" "$1/recording" >"$work/branches" || return 1
	found=$(grep -c ' => ' "$work/branches")
	[ "$found" -ge "$2" ] || { echo "$found branches"; return 1; }
	grep 'trace error' "$work/branches" | sed 's/.* code //' | sort | uniq -c | sed 's/^ *//' >"$work/gaps"
	printf '%s' "${3:+$3
}" | diff "$work/gaps" -
}
no_time() { # NAME BRANCHES [GAPS]
	[ -d "$more/$1" ] || return 0
	tap_check "$1: what it runs fits its code" fits_the_code "$more/$1" "$2" "$3"
	tap_check "$1: every byte of trace is accounted for" \
		counts_all_bytes --symfs="$more/$1/symfs" "$more/$1/recording"
}
no_time lldb-single 9
no_time lldb-multifile 25 '2 5: Failed to get instruction'
no_time xdc-unzip 44000
no_time xdc-mruby 345000 '1 7: Overflow packet'
no_time xdc-qemu 1370000 '1 7: Overflow packet'

# The second thread's loop takes one TNT bit an iteration: 12,365 of them lie
# before the trace goes off, while perf 6.1 reports 12,366 jumps.  The first
# thread's loop goes round 10,000 times; perf gives up after 3,904 of them.
equals_perf_per_thread() {
	lldb=$recordings/lldb-multicore
	branches --symfs="$lldb/symfs" "$lldb/perf.data" || return 1
	gzip -dc "$lldb/perf-script.be.txt.gz" >"$work/perf.text"
	normal "$work/perf.text" | grep -Ev ' (gap|resume) ' | grep -E '^(3497496|3497497) ' >"$work/perf"
	# Decoders resume at different packets after an error.
	grep -Ev ' (gap|resume) ' "$work/ours" | grep -E '^(3497496|3497497) ' >"$work/mine"
	diff -d "$work/perf" "$work/mine" | grep '^[<>]' | sort | uniq -c | sort -n >"$work/diff"
	printf '%7d %s\n' 1 '< 3497497 jmp 400bdb 400bcc' 6096 '> 3497496 jmp 400bb1 400ba0' \
		>"$work/known"
	same "$work/diff" "$work/known"
}
tap_check "lldb-multicore: each thread's branches as perf, outside its errors" equals_perf_per_thread
tap_check "lldb-multicore: a sound trace" \
	converts 2 --symfs="$recordings/lldb-multicore/symfs" "$recordings/lldb-multicore/perf.data"

is_within_a_microsecond() {
	cyc=$recordings/dynamorio-cyc
	"$program" -q --format=branches --symfs="$cyc/symfs" "$cyc/perf.data" >"$work/branches" || return 1
	sed 's/^[^:]*: //' "$work/branches" >"$work/ours"
	sed 's/^[^:]*: //' "$cyc/perf-script.be.txt" >"$work/perf"
	same "$work/ours" "$work/perf" || return 1
	# Seconds and nanoseconds apart: awk's numbers hold 15 digits.
	paste -d' ' "$work/branches" "$cyc/perf-script.be.txt" | grep -oE '[0-9]+\.[0-9]{9}:' | tr -d : |
		awk -F. 'NR % 2 { s = $1; ns = $2; next } { d = ($1 - s) * 1e9 + $2 - ns
			if (d > 1000 || d < -1000) { print d " ns"; bad = 1 } } END { exit bad }'
}
tap_check "dynamorio-cyc: branches as perf, times within 1 us" is_within_a_microsecond
tap_check "dynamorio-cyc: a sound trace" \
	converts 0 --symfs="$recordings/dynamorio-cyc/symfs" "$recordings/dynamorio-cyc/perf.data"

keeps_the_calls() {
	rr=$recordings/rr-alderlake
	# perf cannot name the stubs
	"$program" -q --no-warn --format=branches --symfs="$rr/symfs" "$rr/perf.data" | grep -F ':   call ' | awk '
		{ name = substr($0, index($0, " => ") + 4)
		  sub(/^ *[0-9a-f]* /, "", name)
		  sub(/[+]0x[0-9a-f]*$/, "", name)
		  n[name ~ /@plt$/ ? "[unknown]" : name]++ }
		END { for (name in n) print n[name] "\t" name }' | sort >"$work/calls"
	sort "$rr/perf-script.calls-per-callee.tsv" >"$work/calls.perf"
	same "$work/calls" "$work/calls.perf"
}
tap_check "rr-alderlake: as many calls of each function as perf, 653,108 in all" keeps_the_calls
tap_check "rr-alderlake: a sound trace" \
	converts 2 --symfs="$recordings/rr-alderlake/symfs" "$recordings/rr-alderlake/perf.data"

names_missing_files() {
	[ "$(grep -c 'not found; .*build id' "$work/messages")" -eq 1 ] || { cat "$work/messages"; return 1; }
	grep -q '3174/3174 .*\[lost: Failed to get instruction\]' "$work/slices"
}
for name in lldb-multicore dynamorio-cyc rr-alderlake; do
	tap_check "$name: every byte of trace is accounted for" \
		counts_all_bytes --symfs="$recordings/$name/symfs" "$recordings/$name/perf.data"
done
for file in perf.data perf.data.pipe; do
	tap_check "quipper $file: every byte of trace is accounted for" \
		counts_all_bytes --symfs="$work" "$recordings/quipper-4.14/$file"
done
# Two of its PSB+ are of BDM70: a FUP in the header, and a TIP.PGE of another place after it.
is_no_mismatch() {
	"$program" --no-warn --format=none "$recordings/quipper-4.14/perf.data" 2>"$work/messages" || return 1
	! grep 'does not fit' "$work/messages"
}
tap_check "quipper, of a Skylake: what an erratum wrote is no damage" is_no_mismatch
tap_check "quipper: a sound trace without any code" converts 2 --symfs="$work" "$recordings/quipper-4.14/perf.data"
tap_check "quipper: one line names the missing files and their build ids" names_missing_files
# perf reports a new core clock with the next branch or timing packet, so not the
# last ones, and to the nearest MHz; we have GHz with two decimals.
clocks_as_perf() { # NAME
	"$program" -q --no-warn "$recordings/$1/perf.data" -o "$work/out.ftf" || return 1
	"$ftfdump" "$work/out.ftf" | awk '/ counter /{ print $4, $0 }' | sort -n | sed 's/.*value=//' |
		awk '{ printf "%.0f\n", $1 * 100 }' >"$work/ours"
	perf script -i "$recordings/$1/perf.data" --itrace=p -F event,synth 2>/dev/null |
		sed -n 's/.*cbr: .*freq: *\([0-9]*\) MHz.*/\1/p' |
		awk '{ print int(($1 + 5) / 10) }' >"$work/perf"
	[ -s "$work/perf" ] && head -n "$(wc -l <"$work/perf")" "$work/ours" | cmp - "$work/perf"
}
if command -v perf >/dev/null; then
	for name in rr-alderlake dynamorio-cyc quipper-4.14 lldb-multicore; do
		tap_check "$name: the core clocks as perf" clocks_as_perf $name
	done
else
	tap_skip "the core clocks as perf" "no perf"
fi

# Samples of another event beside the trace.
samples_as_perf() { # NAME EVENT
	"$program" -q --no-warn "$recordings/$1/perf.data" -o "$work/out.ftf" || return 1
	"$ftfdump" "$work/out.ftf" | sed -n "s/.* instant \\([0-9]*\\).* \\([0-9]*\\) \"$2\" .* address=0x\\([0-9a-f]*\\).*/\\1 \\2 \\3/p" |
		sort >"$work/ours"
	perf script -i "$recordings/$1/perf.data" --itrace=e --ns -F pid,time,event,ip 2>/dev/null |
		sed -n "s/^ *\\([0-9]*\\)  *\\([0-9]*\\)\\.\\([0-9]*\\):  *$2: *\\([0-9a-f]*\\) *\$/\\1 \\2\\3 \\4/p" |
		sort >"$work/perf"
	[ -s "$work/perf" ] && same "$work/perf" "$work/ours"
}
leaves_samples_out() { # NAME EVENT
	"$program" -q --no-warn --no-samples "$recordings/$1/perf.data" -o "$work/none.ftf" &&
		"$program" -q --no-warn "$recordings/$1/perf.data" -o "$work/out.ftf" || return 1
	for trace in out none; do
		"$ftfdump" "$work/$trace.ftf" >"$work/$trace.text"
	done
	grep -q " instant .* \"$2\"" "$work/out.text" && ! grep -q " instant .* \"$2\"" "$work/none.text" &&
		[ "$(grep -cE ' (begin|complete) ' "$work/out.text")" -eq "$(grep -cE ' (begin|complete) ' "$work/none.text")" ]
}
tap_check "quipper: --no-samples leaves them out, and nothing else" leaves_samples_out quipper-4.14 cycles
if command -v perf >/dev/null; then
	tap_check "quipper: samples of cycles as perf" samples_as_perf quipper-4.14 cycles
else
	tap_skip "quipper: samples of cycles as perf" "no perf"
fi
tap_done
