#!/bin/sh
# SPDX-License-Identifier: MIT
# Much of everything (make_scale.c): the sample's slices are there, in time and
# memory that grow with the input and no faster.  LONG=1 takes the large ones.
. "$top_srcdir/tests/support/tap.sh"
program=$top_builddir/ptrace2ftf
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/sample"
"$top_builddir/tests/support/make-sample" "$work/sample"
"$program" -q --symfs="$work/sample" --format=slices "$work/sample/perf.data" | cut -d' ' -f1-5 >"$work/wanted"
# Sanitizers are slow and take memory of their own.
[ "$P2F_SANITIZED" = yes ] && slow=10 || slow=1

# The sample's slices, but for times: losses may end what is open.  On many CPUs at once,
# as no thread is, they cannot be told apart.
has_slices() {
	grep '^1234/1234 ' "$work/slices" | awk '$5 !~ /^\[/ { print $2, $5 }' | head -9 >"$work/mine"
	awk '$5 !~ /^\[/ { print $2, $5 }' "$work/wanted" | cmp -s - "$work/mine"
}

# Seconds are of CPU: the machine may be busy with something else.
limited() { # SECONDS COMMAND...
	seconds=$(($1 * slow))
	shift
	(ulimit -t $seconds; exec timeout -s KILL $((20 * seconds)) "$@")
}
holds() { # KIND COUNT SECONDS
	"$top_builddir/tests/scale/make-scale" "$1" "$2" "$work/input" || return 1
	size=$(stat -c %s "$work/input")
	limited "$3" time -f '%M %U %S' -o "$work/memory" "$program" -q \
		--symfs="$work/sample" --format=slices -o "$work/slices" "$work/input" 2>"$work/messages"
	status=$?
	read -r memory user system <<-END
		$(tail -n 1 "$work/memory")
	END
	echo "# $1 $2: $((size / 1024)) KiB, status $status, $user + $system s of CPU, $memory KiB of memory" |
		tee -a "$work/figures"
	case $1 in
	nothing) [ $status -eq 1 ] && return 0 ;;
	*) [ $status -eq 0 ] || [ $status -eq 2 ] || { cat "$work/messages"; return 1; } ;;
	esac
	limit=$((64 * 1024 + 4 * size / 1024))
	case $1 in
	aux) limit=$((32 * 1024)) ;; # of a hole there are no pages
	buffers) limit=$((limit + 13 * $2)) ;; # a decoder each, however short
	pieces) limit=$((limit + $2)) ;; # ten slices each, which are sorted in memory
	esac
	[ $slow -gt 1 ] || [ "$memory" -le $limit ] || { echo "memory"; return 1; }
	case $1 in cpus | losses | buffers) [ -s "$work/slices" ]; return ;; esac
	has_slices || { head "$work/slices"; return 1; }
}
# Perfetto's times are signed; nothing is lost for that.
ends_in_time() {
	awk '$4 == "9223372036854775807" { last++ } length($4) > 19 || $4 > "9223372036854775807" && length($4) == 19 { exit 1 }
		END { exit !last }' "$work/slices"
}
much() { # KIND COUNT-LONG COUNT-SHORT
	count=$3
	[ -z "$LONG" ] || count=$2
	tap_check "$count $1" holds "$1" "$count" 60
}
command -v time >/dev/null || tap_skip_all "no time(1)"
much threads 100000 20000
much mappings 1000000 100000
much remappings 1000000 50000
much dsos 10000 2000
much cpus 4096 512
much switches 1000000 100000
much losses 1000000 10000
much buffers 100000 2000
much pieces 200000 10000
much late 10000 1000
tap_check "times beyond 2^63 ns are shown there" ends_in_time
much nothing 0 0
much aux 17179869184 67108864

symbols() {
	count=200000
	[ -z "$LONG" ] || count=2000000
	"$top_builddir/tests/scale/make-scale" symbols $count "$work/sample/sample"
	cp "$work/sample/perf.data" "$work/input"
	size=$(stat -c %s "$work/sample/sample")
	limited 60 time -f '%M KiB of memory, %U + %S s of CPU' -o "$work/memory" \
		"$program" -q --symfs="$work/sample" --format=slices "$work/input" >"$work/slices" || return 1
	echo "# symbols $count: $((size / 1024)) KiB, $(tail -n 1 "$work/memory")" | tee -a "$work/figures"
	has_slices
}
tap_check "many symbols in one file" symbols
cat "$work/figures"
tap_done
