#!/bin/sh
# SPDX-License-Identifier: MIT
# Libraries that never return (hang.c): two SIGINTs end the program in any library and thread, and
# no output is left.
. "$top_srcdir/tests/support/tap.sh"
shim=$top_builddir/tests/faults/hang.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
[ "$P2F_SANITIZED" != yes ] || tap_skip_all "sanitizers want to be the first library"
# Shells start background processes with SIGINT ignored.
env --default-signal=INT true 2>/dev/null || tap_skip_all "env cannot reset signals here"
"$top_builddir/tests/support/make-sample" .
mkdir out

soon() { # COMMAND...: becomes true within a minute
	for _ in $(seq 600); do
		"$@" && return
		sleep 0.1
	done
	return 1
}
hangs() { grep -qs '^hangs$' messages; }
is_over() { ! kill -0 "$pid" 2>/dev/null; }
# Two pending signals of a kind are delivered once.
is_taken() { ! grep -q '^ShdPnd:.*[2367abef]$' "/proc/$pid/status" 2>/dev/null; }

ends() { # FUNCTION OPTIONS...
	rm -f out/* messages # or the message of the run before would count
	function=$1
	shift
	env --default-signal=INT LD_PRELOAD="$shim" HANG="$function" \
		"$top_builddir/ptrace2ftf" --symfs=. "$@" >text 2>messages &
	pid=$!
	soon hangs || { kill -KILL $pid; cat messages; return 1; }
	kill -INT $pid
	soon is_taken
	is_over || kill -INT $pid
	soon is_over || { kill -KILL $pid; echo "it goes its way"; return 1; }
	wait $pid
	status=$?
	[ $status -eq 130 ] && [ -z "$(ls -A out)" ] || { echo "status $status"; ls out; return 1; }
}
tap_check "libelf that reads a file" ends elf_memory perf.data -o out/x.ftf
tap_check "libelf that reads a table of symbols" ends elf_getdata perf.data -o out/x.ftf
tap_check "libipt that reads packets" ends pt_pkt_next -j 1 perf.data -o out/x.ftf
tap_check "the same in a thread" ends pt_pkt_next -j 4 perf.data -o out/x.ftf
tap_check "libipt that decodes blocks" ends pt_blk_next --engine=libipt perf.data -o out/x.ftf
tap_check "zlib that compresses" ends deflate perf.data -o out/x.ftf.gz
tap_check "zstd that compresses" ends ZSTD_compressStream2 perf.data -o out/x.ftf.zst
tap_check "jansson that writes the summary" ends json_dump_callback --json=out/x.json perf.data -o out/x.ftf
tap_check "libelf that reads a table of symbols, without the sandbox" \
	ends elf_getdata --sandbox=off perf.data -o out/x.ftf
if "$top_builddir/tests/ptsim/ptsim" record -o inlined.data -- "$top_builddir/tests/programs/inlined" \
	>/dev/null 2>&1; then
	tap_check "libdw that reads lines" ends dwarf_getsrclines --symfs=/ inlined.data -o out/x.ftf
else
	tap_skip "libdw that reads lines" "programs cannot be traced here"
fi
tap_done
