#!/bin/sh
# SPDX-License-Identifier: MIT
# The commands of README.md end with status 0, as printed: those after "$" in a fresh build's source folder, those of the
# table of questions with an installed program. The packages that they need beyond bootstrap's are named beside them.
. "$top_srcdir/tests/support/tap.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
source=$(cd "$top_srcdir" && pwd)
built=$(cd "$top_builddir" && pwd)
mkdir -p "$work/bin" "$work/source/build"
cd "$work/source" || exit 1
ln -s "$built/ptrace2ftf" "$built/tests" build
# The command of `make demo`.
(cd build && tests/ptsim/ptsim record --cpus=2 --cyc --wakings -o demo.data -- tests/programs/static/causes lock 7) >/dev/null 2>messages ||
	tap_skip_all "programs cannot be traced here: $(cat messages)"
build/ptrace2ftf -q build/demo.data -o build/demo.ftf

succeeds() { # COMMAND
	eval "$1" >out 2>messages </dev/null && return 0
	echo "status $?: $1"
	cat messages
	return 1
}

# Without perf and Intel PT, and in no browser.
grep -oE '^    \$ .*|`(build/)?(ptrace2ftf|ptsim) [^`]*\.data[^`]*`|`build/[^`]*`' "$source/README.md" | sed 's/^    \$ //; s/`//g' |
	grep -vE '^build/demo|^build/$| open ' | sed 's/FUNCTION/request/; s/PROGRAM/true/' >commands

of_build() {
	grep -q '^build/ptrace2ftf why ' commands || { cat commands; return 1; }
	grep -E "^build/|demo.data" commands >of_build
	while read -r command; do
		succeeds "$command" || return 1
	done <of_build
	succeeds "$(grep why of_build)" && grep -q '^request: [0-9]* of 1000 calls longer than ' out && grep -q '^1. use_lock (causes.c:' out
}
tap_check "commands of a fresh build work as printed" of_build

# In their order: later ones read what earlier ones write. What the answers say of the program is true with any compiler.
tutorial() {
	sed -n 's/^    \$ //p' "$source/doc/tutorial.md" >commands_of_tutorial
	[ "$(wc -l <commands_of_tutorial)" -ge 10 ] && grep -q ' diff ' commands_of_tutorial || return 1
	while read -r command; do
		succeeds "$command" || return 1
		cat out >>outputs
	done <commands_of_tutorial
	grep -E '^ +(went round|does not branch)' "$source/doc/tutorial.md" | sort -u | sed 's/^ *//' >facts
	[ "$(wc -l <facts)" -eq 2 ] || return 1
	while read -r line; do
		# The usual number depends on the path of the checkout, which is on the stack.
		grep -qE "$(echo "$line" | sed 's/[.()]/\\&/g; s/usually [0-9][0-9]*/usually [0-9]+/')" outputs || { echo "not printed: $line"; return 1; }
	done <facts
	[ -s build/slow.html ] && [ -s build/calls.html ] && [ -s build/slow.ftf ] && [ -s build/slow.packed ] &&
		build/ptrace2ftf -q --slowest=1 --symbol=request build/fixed.data | awk '$1 == 1 && $4 < 1000 { found = 1 } END { exit !found }'
}
tap_check "the commands of the tutorial work as printed, one after the other" tutorial

installed() {
	ln -s "$built/ptrace2ftf" "$built/tests/ptsim/ptsim" "$work/bin"
	mkdir "$work/elsewhere"
	for name in perf old new good bad; do
		cp build/demo.data "$work/elsewhere/$name.data"
	done
	grep -vE "^build/|demo.data" commands >installed
	command -v jq >/dev/null || sed -i '/jq/d' installed
	command -v perf >/dev/null || sed -i '/^perf script/d; /^cut/d' installed
	grep -q '^cut .* diff ' installed || ! command -v perf >/dev/null || return 1
	[ "$(wc -l <installed)" -ge 8 ] || { cat installed; return 1; }
	while read -r command; do
		(cd "$work/elsewhere" && PATH=$work/bin:$PATH succeeds "$command") || return 1
	done <installed
}
tap_check "commands of an installed program work as printed" installed

# The packages of a Debian package that bootstrap may not have installed.
packages() {
	sed -n 's/^ \([a-z][a-z0-9+.-]*\).*,$/\1/p' "$source/debian/control" | sed 's/^debhelper-compat$/debhelper/' | sort -u >needed
	[ "$(wc -l <needed)" -gt 10 ] || return 1
	sed -n 's/.*: apt-get install \([a-z0-9-]*\)"$/\1/p' "$source/build-aux/static" >of_static
	[ "$(wc -l <of_static)" -eq 2 ] || { cat of_static; return 1; }
	sed -n '/^packages=/,/^# Independent/p' "$source/build-aux/bootstrap" | tr -s ' "=' '\n' >bootstrap
	sed -n '/^## Get it/,/^## A/p' "$source/README.md" | tr -s ' `,;.' '\n' >named
	for package in $(sort -u needed of_static); do
		grep -qx "$package" bootstrap named || { echo "README.md does not name $package"; missing=1; }
	done
	[ -z "$missing" ]
}
tap_check "packages that bootstrap does not install are named" packages
tap_done
