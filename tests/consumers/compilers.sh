#!/bin/sh
# SPDX-License-Identifier: MIT
# LLVM reads --format=bolt and llvm-profile, and makes programs that execute fewer instructions:
# perf2bolt, llvm-bolt, llvm-profdata, llvm-profgen and clang, in PATH or of the newest release below /usr/lib.
. "$top_srcdir/tests/support/tap.sh"
program=$(realpath "$top_builddir/ptrace2ftf")
ptsim=$(realpath "$top_builddir/tests/ptsim/ptsim")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
for folder in $(printf '%s\n' /usr/lib/llvm-*/bin | sort -t- -k2n); do
	[ ! -x "$folder/clang" ] || PATH=$folder:$PATH
done
for tool in clang llvm-profdata valgrind; do
	command -v $tool >/dev/null || tap_skip_all "no $tool"
done
# An interpreter whose compiler does not know which operations are frequent.
cat >program.c <<'END'
#include <stdio.h>
#include <stdlib.h>
struct machine { long sum, left; };
static long checksum(const struct machine *m) { long s = 0; for (int i = 0; i < 8; i++) s += m->sum >> i; return s; }
static int half(int x) { return __builtin_expect(x & 1, 1) ? x * 3 + 1 : x / 2; }
__attribute__((noinline)) int step(struct machine *m, const unsigned char *code, int at)
{
	switch (code[at]) {
	case 0: fprintf(stderr, "rare\n"); m->sum ^= checksum(m); return at + 1;
	case 1: m->sum *= 17; if (m->sum < 0) abort(); return at + 1;
	case 2: m->sum = half((int)m->sum); return at + 1;
	case 3: m->sum += half((int)(m->left * 2)); return at + 1;
	case 4: m->left--; return at + 1;
	case 5: if (m->left) return 0; return at + 1;
	default: return -1;
	}
}
int main(int argc, char **argv)
{
	static const unsigned char code[] = { 3, 4, 5, 6 };
	struct machine m = { 1, argc > 1 ? atol(argv[1]) : 2000 };
	int at = 0;
	while (at >= 0) at = step(&m, code, at);
	printf("%ld\n", m.sum);
	return 0;
}
END
flags="-O2 -g -fdebug-info-for-profiling -no-pie"
clang $flags -Wl,-q -o plain program.c && "$ptsim" record --truth=. --cyc --seed=3 -o data -- ./plain >messages 2>&1 ||
	tap_skip_all "programs cannot be made or traced here: $(cat messages)"
"$program" -q data -o x.bolt && "$program" -q data -o x.prof
insns() { valgrind --tool=callgrind --callgrind-out-file=/dev/null "$1" 100000 2>&1 | awk '$2 == "Collected" { print $4 }'; }
fewer() { # PROGRAM: of the same output
	echo "$(insns ./plain) instructions, then $(insns "$1")"
	[ "$("$1" 777)" = "$(./plain 777)" ] && [ "$(insns "$1")" -lt $(($(insns ./plain) - 80000)) ]
}

# 2,000 rounds of three operations and the last one; BOLT's counts are those of calls.
bolt() {
	perf2bolt -pa -p x.bolt -o x.fdata ./plain >messages 2>&1 && cut -d ' ' -f 3- x.fdata | grep -E '^[0-9a-f]+ 1 step 0 0 6001$' &&
		llvm-bolt ./plain -data=x.fdata -reorder-blocks=ext-tsp -split-functions -o bolted >>messages 2>&1 && fewer ./bolted
}
if command -v perf2bolt >/dev/null; then
	tap_check "perf2bolt and llvm-bolt: fewer instructions" bolt
else
	tap_skip "perf2bolt and llvm-bolt: fewer instructions" "no perf2bolt"
fi
merged() {
	llvm-profdata merge --sample --text x.prof -o merged && sort merged >wanted && sort x.prof | diff wanted - && [ -s wanted ]
}
tap_check "llvm-profdata: the same profile" merged
clang_uses() {
	clang $flags -fprofile-sample-use=x.prof -o tuned program.c && fewer ./tuned
}
tap_check "clang -fprofile-sample-use: fewer instructions" clang_uses

# llvm-profgen makes it of the code and branches that ptsim saw.
same_as_profgen() {
	awk '$6 == "async" { held = $7; next } $6 == "resume" && $8 == held { next }
		$6 != "syscall" && length($7) == 6 && to != "" { range[to "-" $7]++ }
		$6 ~ /^(i?call|ret|i?jmp|jcc)$/ && length($7 $8) == 12 { branch[$7 "->" $8]++ } { to = $6 == "syscall" || length($8) != 6 ? "" : $8 }
		END { print length(range); for (r in range) print r ":" range[r]; print length(branch); for (b in branch) print b ":" branch[b] }' truth.branches >ranges
	llvm-profgen --unsymbolized-profile=ranges --use-offset=0 --binary=plain --format=text -o theirs 2>messages || { cat messages; return 1; }
	for profile in theirs x.prof; do
		llvm-profdata merge --sample --text $profile | awk '/^[^ ]/ { f = $0; sub(/:.*/, "", f); next } / [0-9.]+: [0-9]/ { print f, $0 }' | sort
	done >lines
	sort lines | uniq -c | awk '$1 % 2 { print; odd++ } END { exit odd > 0 || NR < 20 }'
}
if command -v llvm-profgen >/dev/null; then
	tap_check "llvm-profgen makes the same profile of the branches" same_as_profgen
else
	tap_skip "llvm-profgen makes the same profile of the branches" "no llvm-profgen"
fi
tap_done
