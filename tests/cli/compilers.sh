#!/bin/sh
# SPDX-License-Identifier: MIT
# --format=bolt and llvm-profile: the branches that ptsim saw, and the executions that a program
# has by its source.  tests/consumers/compilers.sh asks LLVM.
. "$top_srcdir/tests/support/tap.sh"
program=$(realpath "$top_builddir/ptrace2ftf")
segments=$(realpath "$segments")
ptsim=$(realpath "$top_builddir/tests/ptsim/ptsim")
command -v gcc >/dev/null || tap_skip_all "no gcc"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
cat >calls.c <<'END'
#define CALL static int __attribute__((noinline, noclone))
CALL leaf(int n) { return n * 3; }
CALL other(int n) { return n + 7; }
static inline __attribute__((always_inline)) int twice(int n)
{
	return leaf(n) + leaf(n + 1);
}
CALL work(int (*call)(int), int n)
{
	if (n % 4 == 0)
		n = twice(n);
	return call(n);
}
int main(void)
{
	int sum = 0;
	for (int i = 0; i < 100; i++)
		sum += work(i % 10 ? leaf : other, i);
	return sum == 1;
}
END
gcc -O1 -g -static -no-pie -o calls calls.c && "$ptsim" record --truth=. --cyc --seed=3 -o data -- ./calls >messages 2>&1 ||
	tap_skip_all "programs cannot be made or traced here: $(cat messages)"
"$program" -q data -o x.bolt && "$program" -q data -o x.prof

branches() {
	awk '$6 ~ /^(i?call|ret|i?jmp|jcc)$/ { n[$7 " " $8]++ } END { for (edge in n) print edge, n[edge] }' truth.branches | sort >wanted
	awk '$1 == "B" && $2 != "X:0" { print $2, $3, $4; if ($5 != 0) print }' x.bolt | sort | diff wanted - && [ "$(wc -l <wanted)" -gt 100 ]
}
tap_check "bolt: each branch that was taken, as often as it was" branches

# From a branch's target to the next branch all code ran; an interrupt does not end it.
straight() {
	awk 'function number(hex,    i, n) { for (i = 1; i <= length(hex); i++) n = 16 * n + index("0123456789abcdef", substr(hex, i, 1)) - 1; return n }
		FILENAME == "x.bolt" { if ($1 == "F") { f++; a[f] = number($2); b[f] = number($3); c[f] = $4 }; next }
		$6 == "async" { held = $7; next }
		$6 == "resume" && $8 == held { next }
		{ if (to != "") ran[to " " $7]++; to = $6 == "syscall" ? "" : $8 }
		END {
			for (stretch in ran) {
				split(stretch, ends, " "); s = number(ends[1]); e = number(ends[2])
				for (i = 1; i <= f; i++) if (s <= a[i] && b[i] <= e) seen[i] += ran[stretch]
			}
			for (i = 1; i <= f; i++) if (seen[i] != c[i]) { printf "%x %x: %d, not %d\n", a[i], b[i], c[i], seen[i]; wrong = 1 }
			exit wrong || f < 100
		}' x.bolt truth.branches
}
tap_check "bolt: straight code, as often as it ran" straight

# Compilers number the parts of a line in other ways: gcc 14 calls work() in part 2 of main's line 4.
lines() {
	grep -A 9 '^work:' x.prof
	grep -qx 'work:[0-9]*:100' x.prof && grep -qx 'other:20:10' x.prof && grep -qx 'leaf:280:140' x.prof && grep -qx 'main:[0-9]*:1' x.prof &&
		grep -qx ' 4: 100 leaf:90 other:10' x.prof && grep -qx ' 4[.0-9]*: 100 work:100' x.prof && grep -A 1 ' 3: twice:' x.prof | grep -qx '  2: 25 leaf:50'
}
tap_check "llvm-profile: executions by line below the function's, calls, inlined functions" lines

chosen() {
	"$program" -q -f llvm-profile --symbol=leaf data >leaf.prof && [ "$(head -c 5 leaf.prof)" = leaf: ] && [ "$(grep -c '^[^ ]' leaf.prof)" -eq 1 ] &&
		"$program" -f bolt --dso=absent data >none.bolt 2>messages
	[ $? -eq 2 ] && grep -q "no call matches" messages && [ ! -s none.bolt ]
}
tap_check "--symbol and --dso choose" chosen

# The last function of a file without symbols has no end in its tables.
stripped() {
	gcc -O1 -s -o stripped calls.c && "$ptsim" record --cyc --seed=3 -o stripped.data -- ./stripped >messages 2>&1 || return 1
	timeout 30 "$program" -f llvm-profile stripped.data -o none.prof 2>messages
	[ $? -eq 2 ] && grep -q "no source lines" messages && [ ! -s none.prof ] && "$program" -q --no-warn stripped.data -o stripped.bolt &&
		[ "$(grep -c "^B " stripped.bolt)" -gt 10 ]
}
tap_check "a stripped program has branches, but no lines" stripped

any_threads() {
	for form in bolt llvm-profile; do
		"$program" -q --engine=libipt -f $form data | cmp - x.${form#llvm-}* || return 1
		for jobs in 1 3 5; do
			PTRACE2FTF_SEGMENT=300 "$segments" -q -j $jobs -f $form data | cmp - x.${form#llvm-}* || return 1
		done
	done
}
mv x.prof x.profile
tap_check "any number of threads, and libipt, write the same" any_threads
tap_done
