# SPDX-License-Identifier: MIT
# Sourced by shell tests: report in TAP on stdout.
#   tap_check, tap_ok or tap_skip for each test; tap_done at the end.
# Scripts change directory, and may be started by hand with relative paths.
top_srcdir=$(cd "${top_srcdir:-.}" && pwd) top_builddir=$(cd "${top_builddir:-.}" && pwd)
tap_count=0
tap_failed=0
tap_name="the first one"
# tests/support/limited.sh ends a suite that takes too long.
trap 'echo "# not at its end: $tap_name"; exit 143' TERM

# No caches of the user: perf's ~/.debug has files of earlier runs under their build ids.
# As root, programs create a folder that does not exist, but not below a file. ccache is off, as it
# has no cache without a home.
HOME=/dev/null CCACHE_DISABLE=1
export HOME CCACHE_DISABLE
# make -j gives some jobs a pipe, which the program would read.
exec </dev/null
# No settings of the user.
unset XDG_CONFIG_HOME XDG_CACHE_HOME PTRACE2FTF_OPTIONS

# The program with segments of PTRACE2FTF_SEGMENT bytes.
segments=$top_builddir/tests/support/ptrace2ftf-segments

tap_ok() { # STATUS NAME: 0 passes
	tap_count=$((tap_count + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $tap_count - $2"
	else
		echo "not ok $tap_count - $2"
		tap_failed=1
	fi
}

tap_skip() { # NAME REASON
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1 # SKIP $2"
}

tap_check() { # NAME COMMAND...: run the command; show its output if it fails
	tap_name=$1
	shift
	tap_output=$("$@" 2>&1) && tap_status=0 || tap_status=$?
	[ $tap_status -eq 0 ] || echo "$tap_output" | sed 's/^/# /'
	tap_ok $tap_status "$tap_name"
}

tap_keep() { # FILE...: copy what shows a rare failure out of the script's folder, and say where
	tap_kept=$(mktemp -d "${TMPDIR:-/tmp}/tap-kept.XXXXXX") && cp "$@" "$tap_kept" && echo "kept in $tap_kept"
}

tap_sampled() { # N: return true at every Nth call; at each with LONG=1
	tap_calls=$((${tap_calls:-0} + 1))
	[ "$LONG" ] || [ $((tap_calls % $1)) -eq 0 ]
}

tap_terminal() { # NAME COMMAND...: tap_check, unless the command can get no terminal: no /dev/pts
	[ "${tap_terminals-}" ] || tap_terminals=$(python3 -c 'import pty; pty.openpty()' 2>&1 && echo made)
	if [ "$tap_terminals" = made ]; then
		tap_check "$@"
	else
		tap_skip "$1" "no terminal can be made here: $(echo "$tap_terminals" | tail -n 1)"
	fi
}

tap_skip_all() { # REASON
	echo "1..0 # SKIP $1"
	exit 0
}

tap_done() {
	echo "1..$tap_count"
	exit $tap_failed
}
