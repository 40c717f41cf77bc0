#!/bin/sh
# SPDX-License-Identifier: MIT
# A conversion that fails ends `make bench`, which names the reason: a part of the work must not look fast.
. "$top_srcdir/tests/support/tap.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# The tree of a build, where all works but conversions to an .ftf, as its program says.
stub() { # FILE COMMANDS
	mkdir -p "$(dirname "$1")"
	printf '#!/bin/sh\n%s\n' "$2" >"$1"
	chmod +x "$1"
}
stub tests/ptsim/ptsim ': >"$3"' # record -o FILE
mkdir -p tests/bench
ln -s "$top_builddir/tests/bench/cpu-time" tests/bench/cpu-time

ends() { # PART COMMANDS REASON
	stub ptrace2ftf "case \$* in *--version* | *none*) exit 0; esac; $2"
	PARTS=$1 sh "$top_srcdir/tests/bench/bench.sh" "$top_srcdir" >page 2>messages && { echo "status 0"; return 1; }
	cat messages
	! grep '^| .*, [0-9]* KiB' page && grep -q "$3" messages
}
for part in times instructions costs; do
	if [ $part != times ] && ! { command -v valgrind && command -v strace; } >/dev/null; then
		tap_skip "no row of $part is made from a failed conversion" "no valgrind or no strace"
		continue
	fi
	tap_check "no row of $part is made from a failed conversion" ends $part \
		'echo "ptrace2ftf: cannot decode x" >&2; exit 1' "status 1 of .*ptrace2ftf.* -o .*: ptrace2ftf: cannot decode x"
	tap_check "no row of $part is made from a conversion with gaps" ends $part "exit 2" "status 2 of .*ptrace2ftf"
	tap_check "no row of $part is made from a conversion that crashed" ends $part 'kill -SEGV $$' "status 139 of .*ptrace2ftf"
done
tap_done
