#!/bin/sh
# SPDX-License-Identifier: MIT
# OCaml's overlays against the output of the formats' own readers: the standard library's
# Runtime_events, of the release that wrote the ring, and memtrace's dump_trace.
. "${top_srcdir:-.}/tests/support/tap.sh"
shared=${top_srcdir:-.}/../shared/ocaml
program=${top_builddir:-.}/ptrace2ftf
[ -d "$shared/events" ] || tap_skip_all "no ../shared/ocaml"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# The readers also print the number of events that a call handled and, of OCaml 5.0 to
# 5.2, a stale word after ring_stop.
comparable() {
	sed -E -e '/^# total/d' -e 's/ ring_stop .*/ ring_stop/'
}

events_equal() { # RING.gz DUMP
	file=$work/$(basename "$1" .gz)
	gzip -dc "$1" >"$file"
	case $2 in
	*.gz) gzip -dc "$2" ;;
	*) cat "$2" ;;
	esac | comparable >"$work/expected"
	"$program" --format=events --runtime-events="$file" -o "$work/printed" &&
		comparable <"$work/printed" | cmp "$work/expected" -
	status=$?
	rm -f "$file"
	return $status
}

memtrace_equal() { # FILE DUMP [LINES]
	gzip -dcf "$2" | head -n "${3:-1000000}" >"$work/expected"
	"$program" --format=events --memtrace="$1" -o "$work/printed" || return 1
	sed '/^# /d' "$work/printed" | cmp "$work/expected" -
}

# The damaged ones are small.ctf changed: STATUS LINES-THAT-ARE-EQUAL LINES-AT-LEAST WARNING
damaged() { # FILE STATUS EQUAL LEAST WARNING
	"$program" --format=events --memtrace="$shared/memtrace/$1" -o "$work/printed" 2>"$work/err"
	[ $? -eq "$2" ] || { echo "another exit status"; cat "$work/err"; return 1; }
	grep -q "$5" "$work/err" || { cat "$work/err"; return 1; }
	[ "$(grep -vc 'have no backtrace: an earlier' "$work/err")" -eq 1 ] || { cat "$work/err"; return 1; }
	[ "$2" -eq 1 ] && return 0
	[ "$(wc -l <"$work/printed")" -ge "$4" ] || { wc -l "$work/printed"; return 1; }
	head -n "$3" "$shared/memtrace/small.dump.txt" >"$work/expected"
	sed '/^# /d' "$work/printed" | head -n "$3" | cmp "$work/expected" -
}

for folder in "$shared"/events/* "$shared"/combined/single "$shared"/perf/*; do
	for ring in "$folder"/*.events.gz; do
		dump=$(ls "${ring%.events.gz}".dump.txt*)
		# seeds.md: a file has a header, ring headers, rings and names
		# seeds.md: rings of 5.0 to 5.4 are read
		# seeds.md: lifecycle: starts, stops, forks, domains
		# seeds.md: each message has the counts in this order
		# seeds.md: user events: unit, int, span
		tap_check "$(basename "$folder")/$(basename "$ring" .gz) is as OCaml reads it" \
			events_equal "$ring" "$dump"
	done
done
cd "$shared/memtrace" || exit 1
program=$(cd - >/dev/null && realpath "$program")
shared=$(realpath ..)
for name in tiny small deep synth; do
	# seeds.md: allocations: words, samples, source, backtrace
	# seeds.md: a location code may have several locations, or none
	# seeds.md: a backtrace that is too long lacks its innermost part
	# seeds.md: dump_trace prints all events
	tap_check "$name.ctf is as memtrace reads it" memtrace_equal $name.ctf "$(ls $name.dump.txt*)"
done
for version in 1 2 3; do
	# seeds.md: versions 1 to 3 are read, later ones refused
	# seeds.md: the lists of version 1 keep the names of the previous file
	tap_check "version $version of ocamlopt's trace is as memtrace reads it" \
		memtrace_equal ocamlopt_v0$version.ctf ocamlopt_v01_v02_v03.dump.txt.gz
done
for folder in combined/single perf/default perf/mono; do
	tap_check "$folder/out.ctf is as memtrace reads it" \
		memtrace_equal ../$folder/out.ctf ../$folder/out.dump.txt.gz
done
# Chunks of 100 numbers, three domains: written by an encoder of its own.
chunks() {
	"$program" --format=events --memtrace="$shared/../cases/memtrace/chunk100_three_domains.ctf" \
		-o "$work/printed" && [ "$(grep -c ' alloc' "$work/printed")" -eq 1195 ] &&
		! grep ' ?$' "$work/printed"
}
# seeds.md: domains take their ids in chunks of any size (obj_ids_per_chunk)
tap_check "numbers in chunks of 100 of three domains keep their backtraces" chunks
# seeds.md: a program without allocations has no events
tap_check "a trace without allocations has no events" memtrace_equal empty_only_info.ctf /dev/null
tap_check "packets of another process are skipped" damaged odd_foreign_pid.ctf 2 3814 3814 \
	"skipped a packet of memtrace of process 99999; 5441 is traced"
# seeds.md: a packet that is cut off is skipped
tap_check "a packet that is cut off is left out" damaged bad_trunc_midpacket.ctf 2 3231 3231 \
	"the last packet of memtrace is cut off"
# seeds.md: a packet's header that is cut off ends the run
tap_check "a packet's header that is cut off is left out" damaged bad_trunc_header.ctf 2 3231 3231 \
	"the last packet of memtrace is cut off"
# seeds.md: the packet's check of the cache fails: the run ends
tap_check "events before a damaged one and after its packet are read" damaged bad_flip_event.ctf 2 \
	12 500 "memtrace is damaged at offset"
tap_check "packets after one that is none are read" damaged bad_magic_packet2.ctf 2 0 500 \
	"no packet of memtrace at offset"
tap_check "a later version is refused" damaged bad_version4.ctf 1 0 0 "memtrace version 4"
tap_check "what is no memtrace file is refused" damaged bad_short.ctf 1 0 0 "not a memtrace file"
tap_done
