#!/bin/sh
# SPDX-License-Identifier: MIT
# Go programs: goroutines grow their stacks, wait for each other, are stopped by signals, and
# recover from panics. Each function has its callers in the source.
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/support/stack_rules.sh"
ptsim=$top_builddir/tests/ptsim/ptsim
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
command -v go >/dev/null || tap_skip_all "no go"

cat >"$work/main.go" <<'END'
package main

var leaves int

//go:noinline
func leaf(n int) int { leaves++; return n * 3 }

//go:noinline
func deep(n int) int {
	var room [256]byte
	room[n%256] = byte(n)
	if n == 0 {
		return leaf(1)
	}
	return deep(n-1) + int(room[n%256]) + leaf(n)
}

//go:noinline
func grow(n int) int { return deep(n) + leaf(n) }

//go:noinline
func fall(n int) int {
	if n == 0 {
		panic("fall")
	}
	return fall(n-1) + leaf(n)
}

//go:noinline
func after(n int) int { return leaf(n) }

//go:noinline
func handler(sum *int, n int) { recover(); *sum += after(n) }

//go:noinline
func guarded(n int) (sum int) {
	defer handler(&sum, n)
	if n%2 == 0 {
		sum = guarded(n + 1)
	}
	return sum + fall(n%4+1)
}

//go:noinline
func catch(n int) int { return guarded(n) + leaf(n) }

//go:noinline
func spin(n int) (sum int) {
	for i := 0; i < 1000; i++ {
		sum += leaf(n)
	}
	return sum
}

//go:noinline
func serve(in, out chan int, more int) {
	for n := range in {
		out <- grow(20*(n+more)) + catch(n) + spin(n)
	}
}

func main() {
	in, out := make(chan int), make(chan int)
	for i := 0; i < 3; i++ {
		go serve(in, out, i)
	}
	sum := 0
	for i := 0; i < 6; i++ {
		in <- i
		sum += <-out
	}
	println(leaves, sum) // package fmt takes seconds to compile
}
END
GOCACHE=$work/cache GOFLAGS=-mod=mod go build -o "$work/program" "$work/main.go" 2>"$work/messages" &&
	strip -o "$work/stripped" "$work/program" ||
	tap_skip_all "cannot build a Go program: $(head -n 1 "$work/messages")"
"$ptsim" record -o "$work/perf.data" -- "$top_builddir/tests/programs/static/tail" >/dev/null 2>"$work/messages" ||
	tap_skip_all "programs cannot be traced here: $(cat "$work/messages")"

# Check the caller of each of the program's functions: the next of these functions around it, without
# a signal's handler between them.
has_its_callers() { # PROGRAM [SETTING]
	"$ptsim" record -o "$work/perf.data" -- ${2+env "$2"} "$1" 2>"$work/messages" ||
		{ cat "$work/messages"; return 1; }
	"$top_builddir/ptrace2ftf" -q --no-warn --format=slices "$work/perf.data" >"$work/slices" || return 1
	awk -v leaves="$(sed -n 's/^\([0-9]*\) [0-9]*$/\1/p' "$work/messages")" -v exact="${2+1}" '
		BEGIN {
			split("leaf:deep leaf:grow leaf:after leaf:catch deep:deep deep:grow grow:serve " \
			      "fall:fall fall:guarded guarded:guarded guarded:catch handler:fall " \
			      "handler:guarded.func1 guarded.func1:fall after:handler catch:serve spin:serve leaf:spin " \
			      "copystack:deep", list, " ")
			for (i in list)
				right[list[i]] = 1
		}
		{ level[$1, $2] = $5 ~ /^runtime\.sig(tramp|return)/ ? "a signal" : "" }
		$5 !~ /^(main\.|runtime\.copystack$)/ || $5 ~ /^main\.main/ { next }
		{
			name = substr($5, index($5, ".") + 1)
			sub(/\.deferwrap1$/, ".func1", name) # its name since Go 1.22
			for (at = $2 - 1; at >= 0 && level[$1, at] == ""; at--)
				;
			caller = at < 0 ? "" : level[$1, at]
			if ($5 ~ /^main\./)
				level[$1, $2] = name
			count[name]++
			# A goroutine that was stopped on another thread has callers that only that one shows.
			if (!exact && /inferred_start_time=true/)
				moved[$1, name] = 1
			if (name != "serve" && !(name == "copystack" && caller == "") && !right[name ":" caller] &&
			    !($2 == 0 && moved[$1, name]) && ++wrong <= 5)
				print name, "in", caller
			grown += name == "copystack" && caller == "deep"
		}
		END {
			print count["leaf"], "leaves of", leaves, grown, "grown", wrong + 0, "wrong"
			exit wrong || !grown || count["leaf"] < leaves || (exact && count["leaf"] != leaves)
		}' "$work/slices" && keeps_rules "$work" "$work/perf.data"
}

tap_check "goroutines that grow and recover: each call has the callers of the source" \
	has_its_callers "$work/program" GODEBUG=asyncpreemptoff=1
tap_check "the same with signals that stop goroutines" has_its_callers "$work/program"
tap_check "the same without symbols" has_its_callers "$work/stripped" GODEBUG=asyncpreemptoff=1
tap_done
