#!/bin/sh
# SPDX-License-Identifier: MIT
# Tables of CPU time for tests/bench/README.md: run by `make profile`. Samples of perf's
# clock count for the source file of their instruction, also if it is inlined, and for
# the file's stage.
set -eu
program=$PWD/ptrace2ftf
shared=$1/../shared/recordings
runs=${RUNS:-10}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
one_thread=
"$program" --help=all | grep -q -- --threads && one_thread=--threads=1

# "address symbol file what-the-kernel-does" of each sample.
samples() { # OPTIONS...
	rm -f "$work/samples"
	for _ in $(seq "$runs"); do
		perf record -q -e cpu-clock -F 10000 -g -o "$work/perf.data" -- "$program" -q --no-warn $one_thread "$@" \
			>/dev/null 2>&1 || [ $? -le 2 ]
		perf script -i "$work/perf.data" -F ip,sym,dso 2>/dev/null | awk '
			function flush() { if (n) print ip, symbol, dso, kernel; n = 0; kernel = "-" }
			NF == 0 { flush(); next }
			n++ == 0 { ip = $1; symbol = $2; dso = $NF; kernel = "-" }
			/ksys_write|vfs_write/ { kernel = "write" }
			/page_fault/ && kernel == "-" { kernel = "fault" }
			END { flush() }' >>"$work/samples"
	done
}

stages() {
	# With a call chain, perf prints offsets in the program's file, where its code has the same addresses.
	awk -v p="($program)" '$3 == p { print "0x" $1 }' "$work/samples" | addr2line -e "$program" | sed 's/:[0-9?]*.*$//' >"$work/sources"
	awk -v p="($program)" '$3 != p { print $3, $4, $2 }' "$work/samples" |
		sed 's/^(\[.*\]) /kernel /; s#^(.*/##; s/)//' >>"$work/sources"
	awk '
		/^kernel write/ { count["write"]++; next }
		/^kernel fault/ { count["page faults"]++; next }
		/^kernel/ { count["other work of the kernel"]++; next }
		/^libipt|pt_flow|flow_packets|flow_frequent|flow_window|packet_clock|tsc_clock|aux_|auxtrace/ { count["packets"]++; next }
		/flow_|pt_block|basic_block|run_memo|insn|opcode_|code_|hugepage_remap/ { count["flow"]++; next }
		/pt_stream|branch_merge|schedule|workers|convert_perf_data|branch_event/ { count["events in order"]++; next }
		/^libdw|^libelf|symbols\/|resolve|address_space|timeline|process_table|thread_table|space_builder|file_table|call_sites/ { count["names"]++; next }
		/callstack|frame_list|timestamp_group|thread_stacks|slices\/track|inline_flow/ { count["stacks"]++; next }
		/writer\/|ftf_sink|slice_|sorter_|pipeline|track|name\./ { count["sorting, encoding"]++; next }
		/output|compressor/ { count["write"]++; next }
		{ count["all else"]++; other[$1]++ }
		END {
			for (stage in count) printf "%5.1f %% | %s\n", 100 * count[stage] / NR, stage
			for (file in other) if (other[file] > NR / 100) print "  all else: " file, other[file] > "/dev/stderr"
		}' "$work/sources" | sort -rn
}

cpu() { # OPTIONS...: median of 5
	for _ in 1 2 3 4 5; do
		tests/bench/cpu-time "$work/time" "$program" -q --no-warn $one_thread "$@" >/dev/null 2>&1 || true
		awk '{ print $1 }' "$work/time"
	done | sort -n | sed -n 3p
}

table() { # TITLE SYMFS FILE
	echo "## $1"
	packets=$(tests/bench/packet-speed "$3")
	flow=$(cpu --symfs="$2" --format=none "$3")
	all=$(cpu --symfs="$2" "$3" -o "$work/out.ftf")
	echo "packets alone: $packets"
	awk -v p="${packets%% *}" -v f="$flow" -v a="$all" 'BEGIN {
		printf "--format=none: %.3f s, %.0f times that; to an .ftf: %.3f s, %.0f times that\n", f, f / p, a, a / p }'
	samples --symfs="$2" "$3" -o "$work/out.ftf"
	echo "to an .ftf, $(wc -l <"$work/samples") samples:"
	stages
}

command -v perf >/dev/null || { echo "no perf here"; exit 0; }
[ -d "$shared" ] || { echo "no recordings here"; exit 0; }
table rr-alderlake "$shared/rr-alderlake/symfs" "$shared/rr-alderlake/perf.data"
table big-sqlite "$shared/truth/symfs" "$shared/truth/big-sqlite/perf.data"
