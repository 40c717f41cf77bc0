#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs recorded by ptsim have the same calls, parents and depths with and without
# symbols. Functions without names are compared by their first address.
. "$top_srcdir/tests/support/tap.sh"
ptsim=$top_builddir/tests/ptsim/ptsim
program=$PWD/$top_builddir/ptrace2ftf
case $top_builddir in /*) program=$top_builddir/ptrace2ftf ;; esac
work=$(cd "$(mktemp -d)" && pwd -P)
trap 'rm -rf "$work"' EXIT
command -v strip >/dev/null || tap_skip_all "no binutils"

# The first unnamed function of a file has the file's path and build id, in all formats with arguments.
says_the_file_once() {
	id=$(readelf -n "$work/recorded" | sed -n 's/.*Build ID: //p')
	[ "$id" ] || { echo "the linker gives no build ids"; return 0; }
	"$program" -q --format=slices "$work/perf.data" >"$work/args" &&
		[ "$(grep -c " dso=$work/recorded build_id=$id\( \|\$\)" "$work/args")" -eq 1 ] || return 1
	"$program" -q --format=chrome "$work/perf.data" >"$work/args" &&
		[ "$(grep -o "\"dso\":\"$work/recorded\",\"build_id\":\"$id\"" "$work/args" | wc -l)" -eq 1 ] || return 1
	"$program" -q -o "$work/trace.ftf" "$work/perf.data" && "$top_builddir/ftfdump" "$work/trace.ftf" >"$work/args" &&
		[ "$(grep -o 'build_id=[^ ]*' "$work/args" | grep -c "$id")" -eq 1 ] || return 1
	"$program" -q --format=slices --unnamed=files "$work/perf.data" >"$work/args" && ! grep -q build_id "$work/args"
}

# A function that the compiler cuts in two, and a tail call; main is called "main".
cat >"$work/cold.c" <<-'END'
	#include <stdio.h>
	#include <stdlib.h>
	static volatile int sum;
	__attribute__((noinline, cold)) static void log_error(int n) { sum += n; }
	__attribute__((noinline)) static int leaf(int n) { return sum += n; }
	__attribute__((noinline)) static int tail(int n) { sum++; return leaf(n + 1); }
	__attribute__((noinline)) static int work(int n)
	{
		int seen = leaf(n);
		if (__builtin_expect(n % 8 == 0, 0)) {
			log_error(n);
			if (n > 100)
				abort();
			log_error(seen);
			sum += seen * n;
		}
		return tail(seen) + seen;
	}
	int main(void)
	{
		for (int i = 0; i < 64; i++)
			work(i);
		return printf("%d\n", sum) < 0;
	}
END
cat >"$work/throw.cc" <<-'END'
	#include <stdexcept>
	static volatile int sum;
	struct guard { ~guard(); };
	__attribute__((noinline)) guard::~guard() { sum = sum + 1; }
	__attribute__((noinline)) static int thrower(int n)
	{
		if (n % 4 == 0)
			throw std::runtime_error("four");
		return sum = sum + n;
	}
	__attribute__((noinline)) static int guarded(int n) { guard here; return thrower(n) + 1; }
	__attribute__((noinline)) static int catcher(int n)
	{
		try { return guarded(n); } catch (const std::exception &error) { return -n; }
	}
	int main()
	{
		for (int i = 0; i < 4; i++)
			sum = sum + catcher(i);
		return 0;
	}
END

# Conditional tail calls, as in hand-written code: two functions with entries of their own.
cat >"$work/asm.c" <<-'END'
	int chooser(int n);
	__asm__(".type leaf, @function\n"
		"leaf:	.cfi_startproc\n"
		"	ret\n"
		"	.skip 200, 0x90\n"
		"	.cfi_endproc\n"
		".globl chooser\n"
		".type chooser, @function\n"
		"chooser: .cfi_startproc\n"
		"	test $1, %dil\n"
		"	jne leaf\n"
		"	ret\n"
		"	.cfi_endproc\n");
	int main(void)
	{
		for (int i = 0; i < 64; i++)
			chooser(i);
		return 0;
	}
END

# Lines "depth address-of-parent address name" of slices whose calls were seen.
calls() { # FILE OPTIONS...
	file=$1
	shift
	"$program" -q ${tails:+--stacks=$tails} --format=slices --args=line --demangle=none "$@" "$work/perf.data" | sort -k1,1 -k3,3n -k2,2n |
		awk '{ address = "-"
		       for (i = 6; i <= NF; i++)
			       if ($i ~ /^address=0x/)
				       address = substr($i, 11)
		       if (/inferred_start_time/)
			       address = "inferred"
		       at[$2] = address
		       print $2, $2 ? at[$2 - 1] : "-", address, $5 }' >"$file"
	[ -s "$file" ]
}

# The program has a fixed address, so that nm prints the addresses of the trace.
same_calls() { # MINIMUM PROGRAM [FUNCTIONS: a regex; compare only these]
	cp "$2" "$work/recorded" && "$ptsim" record -o "$work/perf.data" -- "$work/recorded" >"$work/output" 2>&1 ||
		{ cat "$work/output"; return 1; }
	nm -n "$work/recorded" | awk '{ sub(/^0+/, "", $1); print length($1), $1 }' | sort -u |
		sort -k1,1n -k2,2 | cut -d ' ' -f 2 >"$work/begins"
	calls "$work/with" || return 1
	nm "$work/recorded" | awk -v only="$3" '$3 ~ only { sub(/^0+/, "", $1); print $1 }' >"$work/only"
	strip "$work/recorded" && calls "$work/without" || return 1
	for file in with without; do
		awk 'FNR == NR { only[$1] = 1; next } $3 in only || $3 !~ /^[0-9a-f]+$/' \
			"$work/only" "$work/$file" >"$work/chosen" && mv "$work/chosen" "$work/$file"
		cut -d ' ' -f 1-3 "$work/$file" | sort >"$work/$file.calls"
	done
	awk -v least="$1" -v same="$(comm -12 "$work/with.calls" "$work/without.calls" | wc -l)" '
		function is_less(a, b) { return length(a) != length(b) ? length(a) < length(b) : a "" < b "" }
		function begin_of(address,    low, high, i) {
			for (high = count; low < high; is_less(address, begins[i]) ? high = i : low = i + 1)
				i = int((low + high) / 2)
			return begins[low - 1]
		}
		FILENAME == ARGV[1] { begins[count++] = $1; next }
		FILENAME == ARGV[2] { all++; next }
		{ n++ }
		$4 ~ /^recorded\+0x/ {
			unnamed++
			begin = substr($4, 12)
			wrong += begin_of($3 == "inferred" ? begin : $3) != begin }
		END {
			if (n > all) all = n
			printf "%d slices, %d the same (%.2f%%); %d without a name, %d of them wrong\n",
				all, same, 100 * same / all, unnamed, wrong
			# Three are wrong once per run; a timer, by the real clock, decides how many others there are.
			exit n < least || same < all * 0.995 || wrong > 3 + unnamed * 0.003 || unnamed < n / 2
		}' "$work/begins" "$work/with" "$work/without" >"$work/result"
	status=$?
	cat "$work/result"
	[ $status -eq 0 ] || diff "$work/with.calls" "$work/without.calls" | head -20
	return $status
}

compiled() { # MINIMUM COMPILER SOURCE FUNCTIONS
	# The dynamic linker takes a million instructions to link libstdc++.
	"$2" -O2 -fno-pie -no-pie -static-libgcc -static-libstdc++ -o "$work/compiled" "$work/$3" || return 1
	nm "$work/compiled" | awk -v only="$4" '$3 ~ only && /[.]cold/ { cut++ } END { exit !cut }' ||
		{ echo "the compiler has cut no function"; return 0; }
	same_calls "$1" "$work/compiled" "$4"
}

# A part's entry is after its function's entry.
conditional_tail_call() {
	"${CC:-cc}" -O2 -fno-pie -no-pie -o "$work/compiled" "$work/asm.c" &&
		same_calls 90 "$work/compiled" '^(leaf|chooser|main)$'
}

# --unnamed=files shows all unnamed code of a file as one function.
one_for_the_file() {
	"$program" -q --format=functions --unnamed=files "$work/perf.data" >"$work/table" || return 1
	grep -qF '[recorded]' "$work/table" && ! grep -qF ' recorded+0x' "$work/table"
}

"$ptsim" record -o "$work/perf.data" -- "$top_builddir/tests/programs/static/tail" >/dev/null 2>"$work/messages" ||
	tap_skip_all "programs cannot be traced here: $(cat "$work/messages")"
# The compiler's start files have no unwind entries: without symbols, a jump between their functions
# leads into a body. It replaces the function, while a jump to an entry nests.
tails=replace
for name in tail longjmp signals ${LONG:+indirect recursion}; do
	tap_check "$name has the same calls without its symbols" same_calls 100 \
		"$top_builddir/tests/programs/static/$name"
done
tails=
tap_check "the arguments say once which file it is" says_the_file_once
tap_check "--unnamed=files shows them as one function" one_for_the_file
tap_check "a part of a function stays with the function (PART)" compiled 200 "${CC:-cc}" cold.c \
	'^(work|leaf|tail|log_error|main)'
tap_check "a conditional tail call leads to a function, to no part" conditional_tail_call
tap_check "a part that an exception lands in does, too" compiled 12 "${CXX:-c++}" throw.cc \
	'thrower|guarded|catcher|guard|^main'
tap_done
