#!/bin/sh
# SPDX-License-Identifier: MIT
# Recordings printed by perf script with fewer fields: the calls are the same as with all fields.
. "$top_srcdir/tests/support/tap.sh"
program=$top_builddir/ptrace2ftf
shared=$(cd "$top_srcdir/../shared" 2>/dev/null && pwd) || tap_skip_all "no ../shared"
command -v perf >/dev/null || tap_skip_all "no perf"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

print() { # ARGUMENTS...: of $recording, at most 60,000 lines
	perf script -i "$recording" --symfs="$symfs" "$@" 2>/dev/null | head -n 60000 >text
}

slices() { # of the text: status 0 and a summary that says what it lacks
	"$program" --input=perf-script text -f slices --args=line -o slices 2>messages || { cat messages; return 1; }
}

# Functions that have names, one a line for each call.
names() {
	sed -E 's/^[^ ]+ ([0-9]+) [0-9]+ [0-9]+ //; s/ (address|inferred_start_time)=.*//; /^\[/d' slices | sort
}

same() { # ARGUMENTS...: the same calls
	print "$@" && slices && names | diff whole - >differences || { head -n 5 differences; return 1; }
}

marked() { # all slices have the mark of an uncertain level
	[ "$(grep -c uncertain_level=true slices)" = "$(wc -l <slices)" ]
}

# FIELD ARGUMENTS...: at most one function in a hundred differs, which is reported, and marked
inferred() {
	field=$1
	shift
	print "$@" && slices && grep -q "the text lacks.*$field" messages || { cat messages; return 1; }
	marked || { echo "slices without mark"; return 1; }
	names | diff whole - | grep -c '^[<>]' >count
	[ $((100 * $(cat count))) -le "$(wc -l <whole)" ] || { echo "$(cat count) of $(wc -l <whole) differ"; return 1; }
}

calls_only() { # perf's branches without --itrace
	print "$@" && slices && grep -q "the text lacks.* branches" messages && grep -q uncertain_level=true slices
}

unmarked() {
	! grep -q uncertain_level slices
}

for name in cases/answers/lru cases/answers/chain recordings/truth/threads-2cpu; do
	recording=$shared/$name/perf.data
	symfs=$shared/${name%/*}/symfs
	all=ip,addr,sym,symoff,flags
	print --ns --itrace=be -F "pid,tid,time,dso,$all"
	slices && names >whole
	tap_check "$name: the text has calls" [ "$(wc -l <whole)" -gt 1000 ]
	tap_check "$name: no slice is inferred" unmarked
	tap_check "$name: calls only" calls_only --ns -F "tid,time,dso,$all"
	tap_check "$name: no dso" same --ns --itrace=be -F "pid,tid,time,$all"
	tap_check "$name: all fields" same --ns --itrace=be \
		-F "comm,tid,cpu,misc,time,event,period,dso,insn,insnlen,ipc,$all"
	tap_check "$name: calls indented" same --ns --itrace=be -F "tid,time,dso,callindent,$all"
	tap_check "$name: no offsets" same --ns --itrace=be -F comm,tid,time,flags,ip,addr,sym
	tap_check "$name: no time" same --itrace=be -F "comm,tid,event,dso,$all"
	tap_check "$name: no flags" inferred flags --ns --itrace=be -F tid,time,ip,addr,sym,symoff,dso
	tap_check "$name: default fields" inferred ns --itrace=be
done
tap_done
