#!/bin/sh
# SPDX-License-Identifier: MIT
# Tables of CPU time for tests/bench/README.md: run by `make profile`. Samples of perf's
# clock count for the source file of their instruction, also if it is inlined, and for
# the file's stage.
# shellcheck disable=SC2015,SC2086,SC2154 # options in words; variables of measure.sh
set -eu
source=$1
. "$source/tests/bench/measure.sh"
runs=${RUNS:-10}

# "address symbol file what-the-kernel-does" of each sample.
samples() { # OPTIONS...
	rm -f "$work/samples"
	for _ in $(seq "$runs"); do
		must perf record -q -e cpu-clock -F 10000 -g -o "$work/perf.data" -- $program -q -j1 "$@"
		perf script -i "$work/perf.data" -F ip,sym,dso 2>/dev/null | awk '
			function flush() { if (n) print ip, symbol, dso, kernel; n = 0; kernel = "-" }
			NF == 0 { flush(); next }
			n++ == 0 { ip = $1; symbol = $2; dso = $NF; kernel = "-" }
			/ksys_write|vfs_write/ { kernel = "write" }
			/page_fault/ && kernel == "-" { kernel = "fault" }
			END { flush() }' >>"$work/samples"
	done
}

stages() { # NAME
	# With a call chain, perf prints offsets in the program's file, where its code has the same addresses.
	awk -v p="($PWD/ptrace2ftf)" '$3 == p { print "0x" $1 }' "$work/samples" | addr2line -e ptrace2ftf | sed 's/:[0-9?]*.*$//' >"$work/sources"
	awk -v p="($PWD/ptrace2ftf)" '$3 != p { print $3, $4, $2 }' "$work/samples" |
		sed 's/^(\[.*\]) /kernel /; s#^(.*/##; s/)//' >>"$work/sources"
	awk '
		/^kernel write/ { print "write(2)"; next }
		/^kernel fault/ { print "page faults"; next }
		/^kernel/ { print "other work of the kernel"; next }
		/^libipt|pt_flow|flow_packets|flow_frequent|flow_window|packet_clock|tsc_clock|aux_|auxtrace/ { print "packets, the clock"; next }
		/flow_|pt_block|basic_block|run_memo|insn|opcode_|code_|hugepage_remap/ { print "flow, with packets in chains"; next }
		/pt_stream|branch_merge|schedule|workers|convert_perf_data|branch_event/ { print "events in order"; next }
		/^libdw|^libelf|symbols\/|resolve|address_space|timeline|process_table|thread_table|space_builder|file_table|call_sites/ { print "names, lines"; next }
		/callstack|frame_list|timestamp_group|thread_stacks|slices\/track|inline_flow/ { print "stacks"; next }
		/writer\/|ftf_sink|slice_|sorter_|pipeline|track|name\./ { print "sorting, encoding"; next }
		/output|compressor/ { print "write(2)"; next }
		/^libc/ { print "the C library, which copies slices"; next }
		{ print "all else"; other[$1]++ }
		END { for (file in other) if (other[file] > NR / 100) print "all else: " file, other[file] > "/dev/stderr" }
		' "$work/sources" | awk '{ n[$0]++ } END { for (stage in n) printf "%s\t%.1f %%\n", stage, 100 * n[stage] / NR }' |
		sort >"$work/$1.stages"
}

least() { # NAME: sets $least (s)
	least=$(sort -n "$work/$1.times" | awk 'NR == 1 { print $1 }')
}

packets() { # SYMFS FILE: a cell, from the best of several runs each
	rm -f "$work"/*.times
	must tests/bench/packet-speed "$2"
	read -r alone _ <"$log.output"
	for _ in 1 2 3 4 5; do
		must tests/bench/cpu-time "$work/time" $program -q -j1 --symfs="$1" --format=none "$2"
		cat "$work/time" >>"$work/none.times"
		rm -f "$work/out"
		must tests/bench/cpu-time "$work/time" $program -q -j1 --symfs="$1" "$2" -o "$work/out"
		cat "$work/time" >>"$work/ftf.times"
	done
	least none
	none=$least
	least ftf
	echo "$alone $none $least" | awk '{ printf "%.1f ms; `none` takes %.0f times, an .ftf %.0f times as long\n", 1e3 * $1, $2 / $1, $3 / $1 }' >"$work/cell"
}

there perf "all" && [ -d "$recordings" ] || { echo "no perf, or no $recordings"; exit 0; }
rr=$recordings/rr-alderlake truth=$recordings/truth
samples --symfs="$rr/symfs" "$rr/perf.data" -o "$work/out"
stages rr
samples --symfs="$truth/symfs" "$truth/big-sqlite/perf.data" -o "$work/out"
stages sqlite
printf '| stage | rr-alderlake | big-sqlite |\n|---|---|---|\n'
join -t "$(printf '\t')" -a 1 -a 2 -e 0.0 -o 0,1.2,2.2 "$work/rr.stages" "$work/sqlite.stages" |
	sort -t "$(printf '\t')" -k 3 -rn | sed 's/\t/ | /g; s/.*/| & |/'
packets "$rr/symfs" "$rr/perf.data"
mv "$work/cell" "$work/rr.cell"
packets "$truth/symfs" "$truth/big-sqlite/perf.data"
echo "| packets alone | $(cat "$work/rr.cell") | $(cat "$work/cell") |"
