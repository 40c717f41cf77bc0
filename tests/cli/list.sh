#!/bin/sh
# SPDX-License-Identifier: MIT
# `ptrace2ftf list`: the contents of a recording, compared with its conversion and the bytes of the
# file.
. "$top_srcdir/tests/support/tap.sh"
program=$top_builddir/ptrace2ftf
ptsim=$top_builddir/tests/ptsim/ptsim
programs=$top_builddir/tests/programs/static
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
command -v jq >/dev/null || tap_skip_all "no jq"

"$ptsim" record --cyc --per-thread --seed=3 -o apart -- "$programs/threads" >/dev/null 2>messages ||
	tap_skip_all "programs cannot be traced here: $(cat messages)"
"$ptsim" record --cyc --cpus=2 --lose=20000 --seed=3 -o cpus -- "$programs/threads" >/dev/null 2>&1
"$ptsim" record --cyc --cpus=2 --seed=3 -o even -- "$programs/threads" >/dev/null 2>&1
for name in apart cpus even; do
	"$program" list --no-warn --json=$name.list $name >$name.text 2>messages || cat messages
	"$program" -q --format=none --json=$name.whole $name
done

buffers() { # FILE: "owner bytes" of each buffer
	for key in .answer.buffers .streams; do
		jq -r "$key[] | \"\(.cpu) \(.tid) \(.trace_bytes // .bytes_total) \(.bytes_missing)\"" $1.list $1.whole 2>/dev/null |
			grep -v '^$' | sort >"got$key"
	done
	[ "$(wc -l <got.streams)" -gt 1 ] && diff got.streams got.answer.buffers
}
tap_check "buffers per thread are those that a conversion reads" buffers apart
tap_check "buffers per CPU, too" buffers cpus

exact_bytes() {
	jq -r '.answer.threads[] | "\(.tid) \(.trace_bytes)"' apart.list | sort >ours
	jq -r '.streams[] | "\(.tid) \(.bytes_total)"' apart.whole | sort | diff - ours
}
tap_check "a thread with a buffer has its bytes" exact_bytes

same_threads() { # FILE
	jq -r '.threads[] | "\(.pid)/\(.tid) \(.names)"' $1.whole | sort >converted
	jq -r '.answer.threads[] | "\(.pid)/\(.tid) \(.names)"' $1.list | sort >ours
	[ "$(wc -l <ours)" -eq 5 ] && diff converted ours
}
tap_check "threads and their names are those of a conversion" same_threads apart
tap_check "threads that share CPUs, too" same_threads cpus

# Of each thread the first and the last branch are within its times; a timing packet may be late.
spans() { # FILE
	"$program" -q --format=slices --args=none $1 | awk '{ split($1, id, "/") }
		!(id[2] in first) || $3 < first[id[2]] { first[id[2]] = $3 } $4 > last[id[2]] { last[id[2]] = $4 }
		END { for (t in first) print t, first[t], last[t] }' >true
	jq -r '.answer.threads[] | "\(.tid) \(.first_ns) \(.last_ns)"' $1.list |
		awk 'NR == FNR { first[$1] = $2; last[$1] = $3; next }
			$2 > first[$1] + 1000 || $3 < last[$1] - 1000 { print; wrong++ } { n++ } END { exit wrong || n != 5 }' true -
}
tap_check "the times of threads contain their slices" spans cpus

# Threads of a CPU share its bytes: about as many as each has in a buffer of its own.
shares() {
	for name in apart even; do
		jq -r '.answer | .trace_bytes as $all | .threads[] | "\(.names[-1]) \(.trace_bytes / $all)"' $name.list | sort >$name.shares
	done
	paste -d ' ' apart.shares even.shares | awk '{ n++; sum += $4; d = $4 - $2; print }
		d > .04 || d < -.04 || $1 != $3 { wrong++ } END { exit wrong || n != 5 || sum < .99 || sum > 1.01 }'
}
tap_check "shares of threads on CPUs are near those in buffers of their own" shares

lost() {
	gaps=$(jq '[.gaps[] | select(.reason == "lost") | .count] | add' cpus.whole)
	[ "$gaps" -gt 1 ] && [ "$(jq '[.answer.buffers[].truncated] | add' cpus.list)" -eq "$gaps" ] &&
		[ "$(jq '[.answer.buffers[] | .truncated + .gaps] | add' apart.list)" -eq 0 ] &&
		grep -q 'CPU 0, .* times truncated: the buffer was full' cpus.text
}
tap_check "buffers that were full are counted" lost

# Flags of PERF_RECORD_AUX: TRUNCATED 1, PARTIAL 4, COLLISION 8 (linux/perf_event.h).
flagged() { # FLAGS WORDS
	python3 - $1 <<-'END'
	import struct, sys
	data = bytearray(open('even', 'rb').read())
	at, size = struct.unpack_from('<QQ', data, 40)
	end = at + size
	while struct.unpack_from('<I', data, at)[0] != 11:
	    kind, _, length = struct.unpack_from('<IHH', data, at)
	    at += length + (struct.unpack_from('<Q', data, at + 8)[0] if kind == 71 else 0)
	struct.pack_into('<Q', data, at + 24, int(sys.argv[1]))
	open('flagged', 'wb').write(data)
	END
	"$program" list --no-warn flagged >flagged.text 2>messages
	grep "CPU [01], $2\$" flagged.text && [ "$(grep -c warning: messages)" -eq 1 ]
}
tap_check "a full buffer has its reason" flagged 1 "1 times truncated: the buffer was full"
tap_check "a pause for a virtual machine, too" flagged 4 "1 times partial: did a KVM guest run?"
tap_check "two of them have both" flagged 5 "1 times truncated: the buffer was full, 1 times partial: did a KVM guest run?"
tap_check "a collision, too" flagged 8 "1 collisions with other samples"

# The trace itself is not read: zeros in its place change nothing.
unread() {
	python3 - <<-'END'
	import struct
	data = bytearray(open('cpus', 'rb').read())
	at, size = struct.unpack_from('<QQ', data, 40)
	end, n = at + size, 0
	while at < end:
	    kind, misc, length = struct.unpack_from('<IHH', data, at)
	    if kind == 71: # PERF_RECORD_AUXTRACE
	        aux = struct.unpack_from('<Q', data, at + 8)[0]
	        data[at + length:at + length + aux] = bytes(aux)
	        at, n = at + aux, n + aux
	    at += length
	assert n > 10000
	open('blank', 'wb').write(data)
	END
	"$program" list blank >text 2>/dev/null
	sed 's/^blank:/cpus:/' text | diff cpus.text -
}
if command -v python3 >/dev/null; then
	tap_check "no byte of the trace matters" unread
else
	tap_skip "no byte of the trace matters" "no python3"
fi

# 160 bytes for a byte of trace.
estimates_temp() {
	bytes=$(jq .answer.temp_bytes even.list)
	[ "$bytes" -eq $(($(jq .answer.trace_bytes even.list) * 160)) ] &&
		grep -q "^temporary files: usually at most $(awk "BEGIN { printf \"%.1f\", $bytes / 1048576 }") MiB (see --max-temp)\$" even.text
}
tap_check "the bytes of temporary files are estimated" estimates_temp

piped() {
	"$program" list - <cpus 2>/dev/null | sed '1s/^-:/cpus:/' | diff cpus.text -
}
tap_check "a recording from a pipe has the same list" piped

chosen() {
	tid=$(jq '.answer.threads[1].tid' apart.list)
	"$program" list --no-warn --tid="$tid" apart 2>/dev/null >text &&
		[ "$(grep -c "/[0-9]*$" text)" -ge 1 ] && grep -q "100.0% .* threads, worker-[0-9] [0-9]*/$tid$" text &&
		[ "$(grep -c '  thread [0-9]' text)" -eq 1 ] && "$program" list --no-warn --cpu=1 cpus 2>/dev/null >text &&
		grep -q '100.0%  CPU 1' text && ! grep -q 'CPU 0' text
}
tap_check "--tid and --cpu choose threads and buffers" chosen

names() {
	mkdir -p empty && "$program" list --symfs=empty apart >text 2>/dev/null
	grep -q '^missing *- .*/threads$' text && grep -q '^found *all .*/threads$' apart.text
}
tap_check "files with and without code and names are named" names

# Of the records, only PERF_RECORD_AUXTRACE_INFO is left.
no_threads() {
	python3 - <<-'END'
	import struct
	data = open('cpus', 'rb').read()
	begin = at = struct.unpack_from('<Q', data, 40)[0]
	while struct.unpack_from('<I', data, at)[0] != 70:
	    at += struct.unpack_from('<H', data, at + 6)[0]
	open('first', 'wb').write(data[:begin] + data[at:at + struct.unpack_from('<H', data, at + 6)[0]])
	END
	"$program" list first >text 2>messages
	[ $? -eq 2 ] && grep -q '^first: 0 B of trace' text && grep -q 'the file is too short' messages ||
		{ cat text messages; return 1; }
}
tap_check "a recording without threads has a list, too" no_threads

refused() {
	for words in "list --format=html apart" "list --input=perf-script apart" "list --symbol=main apart"; do
		# shellcheck disable=SC2086
		"$program" $words >text 2>messages
		[ $? -eq 64 ] || { echo "$words"; return 1; }
	done
}
tap_check "options of a conversion are not for list: that is wrong usage" refused
tap_done
