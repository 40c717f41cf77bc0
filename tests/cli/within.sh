#!/bin/sh
# SPDX-License-Identifier: MIT
# --within for counts of code: those between the calls and returns that ptsim saw of the slow calls,
# and gcov's of a program that makes only these.
. "$top_srcdir/tests/support/tap.sh"
program=$(realpath "$top_builddir/ptrace2ftf")
ptsim=$(realpath "$top_builddir/tests/ptsim/ptsim")
command -v gcc >/dev/null || tap_skip_all "no gcc"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
cat >slow.c <<'END'
#include <pthread.h>
#define CALL static int __attribute__((noinline, noclone))
CALL leaf(int n)
{
	return n * 3;
}
CALL work(int n)
{
	int sum = 0;
	for (int i = 0; i < n; i++) {
		if (i % 3)
			sum += leaf(i);
		else
			sum ^= i;
	}
	if (n > 20)
		sum += work(n - 20);
	return sum;
}
static void *run(void *sum)
{
	for (int i = 0; i < 40; i++) {
#ifdef SLOW
		*(int *)sum += i % 8 ? 0 : work(200);
#else
		*(int *)sum += work(i % 8 ? 2 : 200);
		*(int *)sum += leaf(i);
#endif
	}
	return 0;
}
int main(void)
{
	int sums[2] = { 0 };
	pthread_t thread;
	pthread_create(&thread, 0, run, sums);
	run(sums + 1);
	pthread_join(thread, 0);
	return sums[0] == 1;
}
END
gcc -g -static -no-pie -o plain slow.c && gcc -O1 -g -static -no-pie -o slow slow.c && nm slow >names && "$ptsim" record --cyc --cpus=2 --interrupts=400 --seed=3 -o data -- ./plain >messages 2>&1 ||
	tap_skip_all "programs cannot be made or traced here: $(cat messages)"
# Without CYC packets, many calls share a time.
for name in cyc mtc; do
	options=--cyc
	[ $name = cyc ] || options=--mtc-period=6
	mkdir $name && "$ptsim" record --truth=$name $options --cpus=2 --interrupts=400 --seed=5 -o $name/data -- ./slow >messages 2>&1
done

# The ten longest outermost calls of work(), which are the slow ones, as interrupts take less time:
# sets "bound", and leaves "TID NUMBER" of each slow call.
find_slow() { # DATA
	"$program" -q --no-warn -f slices --args=none $1 | awk '$5 == "work" { if (!($1 in top) || $2 < top[$1]) top[$1] = $2; line[++n] = $0 }
		END { for (i = 1; i <= n; i++) { split(line[i], f, " "); if (f[2] == top[f[1]]) { sub(".*/", "", f[1]); print f[1], ++k[f[1]], f[4] - f[3] } } }' >calls
	bound=$(sort -k3n calls | tail -n 11 | head -n 1 | cut -d ' ' -f 3)
	awk -v bound="$bound" '$3 > bound { print $1, $2 }' calls >chosen
	[ "$(wc -l <calls)" -eq 80 ] && [ "$(wc -l <chosen)" -ge 8 ]
}
# "B FROM TO COUNT" of the branches that the slow calls took or began with, "R FROM TO COUNT" of the code between.
true_counts() { # BRANCHES
	awk -v entry="$(sed -n 's/^0*\(.*\) t work$/\1/p' names)" 'FNR == NR { slow[$1, $2] = 1; next }
		$6 ~ /call/ && $8 == entry && !depth[$5] { depth[$5] = 1; on[$5] = ($5, ++n[$5]) in slow; if (on[$5]) b[$7 " " $8]++; to[$5] = $8; next }
		!depth[$5] { next }
		$6 == "async" { held[$5] = $7; next }
		$6 == "resume" { if ($8 != held[$5]) print "# resumes elsewhere"; next }
		on[$5] { r[to[$5] " " $7]++ }
		$6 ~ /call/ { depth[$5]++ }
		$6 == "ret" && !--depth[$5] { next }
		on[$5] { b[$7 " " $8]++ }
		{ to[$5] = $8 }
		END { for (i in b) print "B", i, b[i]; for (i in r) print "R", i, r[i] }' chosen $1 | sort
}
as_true() { # cyc or mtc
	find_slow $1/data && true_counts $1/truth.branches >counts && "$program" -q --no-warn -f bolt --within="work>${bound}ns" $1/data >x.bolt || return 1
	grep ^B counts >wanted
	awk '$1 == "B" { print $1, $2, $3, $4 }' x.bolt | sort | diff wanted - && [ "$(wc -l <wanted)" -gt 7 ] || return 1
	awk 'function number(hex,    i, n) { for (i = 1; i <= length(hex); i++) n = 16 * n + index("0123456789abcdef", substr(hex, i, 1)) - 1; return n }
		$1 == "F" { f++; a[f] = number($2); b[f] = number($3); c[f] = $4 }
		$1 == "R" { s = number($2); e = number($3); for (i = 1; i <= f; i++) if (s <= a[i] && b[i] <= e) seen[i] += $4
			for (i = 1; i <= f && a[i] != s; i++) ; if (i > f && s != e) { print $0 ": no F record"; wrong = 1 } }
		END { for (i = 1; i <= f; i++) if (seen[i] != c[i]) { printf "%x %x: %d, not %d\n", a[i], b[i], c[i], seen[i]; wrong = 1 }
			exit wrong || f < 8 }' x.bolt counts
}
tap_check "bolt: branches and code of the slow calls" as_true cyc
tap_check "bolt: also of calls that share a time" as_true mtc

# Calls of a function are branches to its entry.
in_profile() {
	find_slow cyc/data && true_counts cyc/truth.branches >counts && "$program" -q --no-warn -f llvm-profile --within="work>${bound}ns" cyc/data >x.prof || return 1
	for function in work leaf; do
		calls=$(awk -v entry="$(sed -n "s/^0*\(.*\) t $function\$/\1/p" names)" '$1 == "B" && $3 == entry { n += $4 } END { print n }' counts)
		grep "^$function:[0-9]*:$calls$" x.prof || return 1
	done
	! grep -e ^run -e ^main x.prof
}
tap_check "llvm-profile: functions, as often as the slow calls call them" in_profile

# Lines of other functions have count 0.
in_lcov() {
	find_slow data && gcc -g -DSLOW --coverage -fprofile-update=atomic -o counted slow.c && ./counted && gcov -t ./*.gcda >text 2>messages &&
		"$program" -q --no-warn -f lcov --within="work>${bound}ns" data >x.info || return 1
	awk -F: '$3 ~ /^static void/ { exit } $1 + 0 { print $2 + 0, $1 + 0 }' text | sort >wanted
	awk -F'[:,]' '$1 == "DA" && $3 { print $2, $3 }' x.info | sort >ours
	join wanted ours | awk '$2 != $3 { print; wrong = 1 } END { exit wrong || NR < 8 }' && ! join -v 1 wanted ours | grep . &&
		grep -qx 'FNDA:100,work' x.info && ! grep 'FNDA:[1-9].*,\(run\|main\)$' x.info
}
if command -v gcov >/dev/null; then
	tap_check "lcov: gcov's counts of a program that makes only the slow calls" in_lcov
else
	tap_skip "lcov: gcov's counts of a program that makes only the slow calls" "no gcov"
fi

in_annotate() {
	find_slow data && "$program" annotate -q --json work --within="work>${bound}ns" data >x.json &&
		jq -e '.functions[0] | .calls == 100 and .code[0].executions == 100 and ([.code[].executions] | add) == .instructions' x.json
}
if command -v jq >/dev/null; then
	tap_check "annotate: as many executions as calls" in_annotate
else
	tap_skip "annotate: as many executions as calls" "no jq"
fi

# Instructions that callgrind gives each address of work() and leaf() are those that ran in the slow calls.
in_callgrind() {
	find_slow cyc/data && true_counts cyc/truth.branches | grep ^R >counts && "$program" -q --no-warn -f callgrind --args=full --within="work>${bound}ns" cyc/data >x.callgrind || return 1
	awk 'function number(hex,    i, n) { for (i = 1; i <= length(hex); i++) n = 16 * n + index("0123456789abcdef", substr(hex, i, 1)) - 1; return n }
		FNR == NR { from[NR] = number($2); to[NR] = number($3); count[NR] = $4; pieces = NR; next }
		/^calls=/ { edge = 1; next }
		/^0x/ && !edge { at = number(substr($1, 3)); ours[at] += $3; all++ }
		{ edge = 0 }
		END { for (at in ours) { n = 0
				for (i = 1; i <= pieces; i++) if (from[i] <= at + 0 && at + 0 <= to[i]) n += count[i]
				if (n != ours[at]) { printf "%x: %d, not %d\n", at, ours[at], n; wrong = 1 } }
			exit wrong || all < 20 }' counts x.callgrind
}
tap_check "callgrind: each instruction as often as the slow calls executed it" in_callgrind

# Functions can be in another order, and so have other numbers: print each cost with its function's name and its callee's.
costs_by_name() {
	awk '/^(fn|cfn)=/ { id = $1; sub(/^.*=/, "", id); if (NF > 1) { text = $0; sub(/^[^ ]* /, "", text); name[id] = text }
			if (/^c/) callee = name[id]; else function_name = name[id]
			next }
		/^calls=/ { calls = $0; next }
		/^[0-9]/ { print function_name, callee, calls, $0; callee = calls = "" }' | sort
}

# The engine counts all code by itself; here all code is in calls.
whole() {
	for format in lcov bolt llvm-profile; do
		"$program" -q --no-warn -f $format data >wanted && "$program" -q --no-warn -f $format --within='*>0ns' data | diff wanted - && [ -s wanted ] || return 1
	done
	"$program" -q --no-warn -f callgrind data | costs_by_name >wanted && [ -s wanted ] &&
		"$program" -q --no-warn -f callgrind --within='*>0ns' data | costs_by_name | diff wanted - || return 1
	# Calls that are cut have all branches up to there.
	for time in 20%,60% 20%,65% 30%,77%; do
		"$program" -q --no-warn -f bolt --time=$time data | grep ^B >wanted &&
			"$program" -q --no-warn -f bolt --time=$time --within='*>0ns' data | grep ^B | diff wanted - || return 1
	done
}
tap_check "all calls have the counts of the engine" whole

cat >opaque.c <<'END'
#include <string.h>
#include <sys/mman.h>
typedef int (*fn)(int);
__attribute__((noinline)) int jump(fn f, int x) { return f(x); }
int main(void)
{
	void *code = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int sum = 0;
	memcpy(code, "\x8d\x47\x01\xc3", 4);
	for (int i = 0; i < 5; i++)
		sum += jump((fn)code, i) + 1;
	return sum == 1;
}
END
# The program is at its own addresses, as memory without a file.
to_no_file() {
	gcc -O2 -static -no-pie -o opaque opaque.c && "$ptsim" record --cyc -o opaque.data -- ./opaque >messages 2>&1 || return 1
	"$program" -q --no-warn -f bolt --within='*>0ns' opaque.data >x.bolt
	[ $? -eq 0 ] && grep -q "^B [0-9a-f]* $(nm opaque | sed -n 's/^0*\(.*\) T jump$/\1/p') 5 0" x.bolt && ! grep '^B [0-9a-f]* 7f' x.bolt
}
tap_check "bolt: no branch to memory without a file" to_no_file

wrong() {
	for option in --inline --stacks=magic-trace; do
		"$program" -f lcov "--within=work>1us" $option data >ours 2>messages
		[ $? -eq 64 ] && grep -q "needs --stacks=precise, and no --inline" messages || return 1
	done
	"$program" -f bolt --within='work>1s' data >ours 2>messages
	[ $? -eq 2 ] && grep -q "no call of 'work' took longer" messages && [ ! -s ours ]
}
tap_check "what it cannot count is wrong usage, and no slow call a warning" wrong
tap_done
