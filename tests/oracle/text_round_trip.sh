#!/bin/sh
# SPDX-License-Identifier: MIT
# Branches as text, read again: the slices of the recordings in ../shared, including stripped ones.
# man/ptrace2ftf.7 lists the data that such text lacks. Every third of the cases; all with LONG=1.
. "$top_srcdir/tests/support/tap.sh"
program=$top_builddir/ptrace2ftf
shared=$(cd "$top_srcdir/../shared" 2>/dev/null && pwd) || tap_skip_all "no ../shared"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Write "thread depth name", without times but for magic-trace's machine, which takes them from the
# branches alone.  The text has no numbers of system calls, and not why there is no trace.
calls() { # MACHINE FILE
	awk -v machine="$1" '{ head = $1 " " $2 (machine == "magic-trace" ? " " $3 " " $4 : "")
		$1 = $2 = $3 = $4 = ""
		sub(/ (address|inferred_start_time)=.*/, "")
		gsub(/\[syscall: [^]]*\]/, "[syscall]")
		gsub(/\[untraced: [^]]*\]/, "[untraced]")
		print head, $0 }' "$2"
}

same_calls() { # MACHINE RECORDING OPTIONS...
	machine=$1
	recording=$2
	shift 2
	set -- -q --no-warn --demangle=none --stacks="$machine" "$@"
	"$program" "$@" -f slices --args=line "$recording" -o "$work/slices" && "$program" "$@" -f branches "$recording" -o "$work/text" &&
		"$program" "$@" -f slices --args=line --input=perf-script "$work/text" -o "$work/again" || return 1
	calls "$machine" "$work/slices" >"$work/expected"
	# magic-trace loses the slices of a single instant.
	[ -s "$work/text" ] && calls "$machine" "$work/again" | diff "$work/expected" - >"$work/differences" && return
	head -n 10 "$work/differences"
	return 1
}

# Text has no forks and execs, which copy or end the callers of a process; no code, which makes a jump
# a call, or leaves a stack; no aborts of transactions; no tables of files, which show that code is of
# no known function (xdc-foo); and no stretches of code without bytes (jit), which are slices of
# perf.data only.
lacks() { # RECORDING
	case $1 in
	*/pipeline-2cpu/* | */truth/jit/* | */more/arcus-* | */more/xdc-foo/* | */cases/* | */quipper-*) ;;
	*) return 1 ;;
	esac
}

for recording in $(find "$shared/recordings" "$shared/more" "$shared/cases" -name perf.data -o -path '*/more/*/recording' | sort); do
	case $recording in
	*/big-sqlite/* | */rr-alderlake/* | */xdc-[!f]* | */arcus-cve-*) continue ;; # minutes
	esac
	"$program" --no-warn --format=none "$recording" 2>&1 | grep -q 'no Intel PT' && continue
	case $recording in */cases/*) tap_sampled 3 || continue ;; esac
	folder=$(dirname "$recording")
	set --
	for symfs in "$folder/symfs" "$folder/../symfs" "$folder/binaries" "$folder/../../symfs"; do
		[ -d "$symfs" ] && set -- --symfs="$symfs" && break
	done
	[ -f "$folder/vdso.so" ] && set -- "$@" --vdso="$folder/vdso.so"
	# Of text the level is guessed, and of a kernel alone a start clears the stack.
	case $recording in */quipper-*) set -- "$@" --mode=both ;; esac
	name=${recording#"$shared"/}
	tap_check "$name: magic-trace's slices" same_calls magic-trace "$recording" "$@"
	case $name in cases/answers/*) ;; *) lacks "$recording" && continue ;; esac
	tap_check "$name: calls and their callers" same_calls precise "$recording" "$@"
done
tap_done
