# SPDX-License-Identifier: MIT
# Sourced by the scripts of `make bench`, which run in the build's root: $source is the source tree.
# shellcheck shell=sh disable=SC2034,SC2086,SC2154 # used by these scripts; options in words
# A command that fails ends them all, because a part of the work must not look fast.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
: "${LEFT_OUT:=$work/left-out}"
shared=$source/../shared
recordings=$shared/recordings
# No settings and no caches of the user.
HOME=$work XDG_CONFIG_HOME=$work/settings XDG_CACHE_HOME=$work/cache
export HOME XDG_CONFIG_HOME XDG_CACHE_HOME
unset PTRACE2FTF_OPTIONS
program="./ptrace2ftf --no-warn"
# Built outside: libipt's own program, with XED; libxdc's test/tester (make tester_static).
ptxed=${PTXED:-ptxed} xdc=${XDC_TESTER:-tester_static} python=/usr/bin/python3
log=$work/log accepted=0

fail() { # REASON
	echo "${0##*/}: $1" >&2
	exit 1
}

must() { # COMMAND...: run it, with its output in $log.output and $log.messages
	"$@" >"$log.output" 2>"$log.messages" && return
	status=$?
	[ $status -eq "$accepted" ] || fail "status $status of '$*': $(tail -n 3 "$log.messages")"
}

leave_out() { # WORDS: a line at the end of the page
	echo "$1" >>"$LEFT_OUT"
}

there() { # PROGRAM WHAT: whether there is the program; otherwise WHAT is left out
	command -v "$1" >/dev/null && return
	leave_out "$2: no $1 here"
	return 1
}

record() { # FILE OPTIONS... -- PROGRAM...
	recording=$work/$1
	shift
	must tests/ptsim/ptsim record -o "$recording" "$@"
}

# Lines are in the cache from then on: the tables of small recordings say what the first conversion takes.
cache_lines() { # FILE
	must $program -q --args=full "$1" -o "$work/cached" # also lines of calls
	must $program -q --stacks=magic-trace "$1" -o "$work/cached"
	rm "$work/cached"
}

record_loop() { # FILE BYTES OPTIONS...
	file=$1 bytes=$2
	shift 2
	record "$file" --per-thread --apart --repeat="$bytes" "$@" -- tests/programs/static/indirect
}

record_python() { # FILE OPTIONS...: the program is loaded, and its libraries are linked
	file=$1
	shift
	record "$file" --per-thread --cyc "$@" -- "$python" -I -S -c pass
}

in_words() { # TITLE FILE: the title of a row
	echo "$1, $(($(stat -L -c %s "$2") / 1024)) KiB"
}

quotient() { # A B FORMAT
	awk -v a="$1" -v b="$2" "BEGIN { printf \"$3\", a / (b > 0 ? b : 1e-9) }"
}

# The options for ptxed are in $work/parts.options, the files for libxdc's tester beside it.
decoders_parts() { # TITLE FILE [SYMFS]: whether decoders that do not read perf.data can have the trace
	there "$python" "$1: ptxed, libxdc" || return 1
	"$python" "$source/tests/bench/perf_parts.py" "$2" "${3:-/}" "$work/parts" \
		>"$work/parts.options" 2>"$work/parts.messages" && return
	leave_out "$1: ptxed, libxdc: $(tail -n 1 "$work/parts.messages")"
	return 1
}
