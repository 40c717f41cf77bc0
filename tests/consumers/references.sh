#!/bin/sh
# SPDX-License-Identifier: MIT
# Executions of six programs, by instruction as valgrind and perf annotate count them, and by line as gcov does; all outputs have one sum.
. "$top_srcdir/tests/support/tap.sh"
program=$(realpath "$top_builddir/ptrace2ftf")
ptsim=$(realpath "$top_builddir/tests/ptsim/ptsim")
profile=$(realpath "$top_srcdir/tests/cli/pprof.py")
page=$(realpath "$top_srcdir/tests/cli/html_page.py")
sums=$(realpath "$top_srcdir/tests/consumers/sums.py")
ftfdump=$(realpath "$top_builddir/ftfdump")
own_lines=$(realpath "$top_srcdir/tests/cli/own_lines.awk")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
HOME=$work
export HOME
for tool in gcc g++; do
	command -v $tool >/dev/null || tap_skip_all "no $tool"
done
cat >sort.c <<'CODE'
#define CALL __attribute__((noinline, noclone))
static unsigned next(unsigned x) { return x * 1103515245 + 12345; }
CALL static void work(unsigned *a, int n)
{
	for (int i = 1; i < n; i++) {
		unsigned x = a[i];
		int at = i;
		while (at > 0 && a[at - 1] > x) {
			a[at] = a[at - 1];
			at--;
		}
		a[at] = x;
	}
}
CALL static int find(const unsigned *a, int low, int high, unsigned x)
{
	if (low >= high)
		return low;
	int middle = (low + high) / 2;
	if (a[middle] < x)
		return find(a, middle + 1, high, x);
	return find(a, low, middle, x);
}
int main(void)
{
	unsigned a[60], x = 1;
	int sum = 0;
	for (int i = 0; i < 60; i++)
		a[i] = x = next(x);
	work(a, 60);
	for (int i = 0; i < 100; i++)
		sum += find(a, 0, 60, x = next(x));
	return sum == 1;
}
CODE
cat >shapes.cc <<'CODE'
struct shape {
	virtual int area() const = 0;
};
struct square : shape {
	int a;
	int area() const override { return a * a; }
};
struct circle : shape {
	int r;
	int area() const override
	{
		return r > 3 ? 3 * r * r : r;
	}
};
template <typename T> static T most(T a, T b)
{
	if (a > b)
		return a;
	return b;
}
extern "C" __attribute__((noinline)) int work(const shape *const *all, int n)
{
	int sum = 0;
	for (int i = 0; i < n; i++) {
		sum = most(sum, all[i % 2]->area());
		if (i % 7 == 0)
			sum -= most<long>(i, 20);
	}
	return sum;
}
int main()
{
	square s;
	circle c;
	const shape *all[] = { &s, &c };
	int sum = 0;
	for (int i = 0; i < 40; i++) {
		s.a = i % 5;
		c.r = i % 6;
		sum += work(all, i);
	}
	return sum == 1;
}
CODE
cat >scan.c <<'CODE'
#include <string.h>
static const char *at;
static int sum(void);
static int value(void)
{
	int n = 0;
	if (*at == '(') {
		at++;
		n = sum();
		at++;
		return n;
	}
	while (*at >= '0' && *at <= '9')
		n = n * 10 + *at++ - '0';
	return n;
}
static int sum(void)
{
	int n = value();
	while (*at == '+' || *at == '*')
		n = *at++ == '+' ? n + value() : n * value();
	return n;
}
__attribute__((noinline)) int work(const char *text)
{
	char copy[64];
	memset(copy, 0, sizeof(copy));
	strncpy(copy, text, sizeof(copy) - 1);
	at = copy;
	return sum();
}
int main(void)
{
	int all = 0;
	for (int i = 0; i < 30; i++)
		all += work(i % 3 ? "12+3*(4+5)+((6))" : "7*8");
	return all == 1;
}
CODE
cat >words.c <<'CODE'
#include <stdio.h>
#include <string.h>
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define EACH(i, n) for (int i = 0; i < (n); i++)
#define STEP(x, f)                \
	do {                      \
		(x) = f(x);       \
		if ((x) > 1000)   \
			(x) -= 997; \
	} while (0)
static inline int mix(int x) { return x * 31 + 7; }
static inline int twist(int x)
{
	return (x ^ (x >> 3)) + mix(x & 15);
}
static int table[64];
static inline __attribute__((always_inline)) int lookup(int at)
{
	int found = table[at & 63];
	if (found)
		return found;
	return table[at & 63] = mix(at);
}
__attribute__((noinline)) int work(const char *text, int n)
{
	int sum = 0;
	EACH(i, n) {
		int c = text[i];
		STEP(sum, twist);
		sum += MIN(c, lookup(c));
		if (c == ' ' || c == ',')
			continue;
		sum += lookup(sum);
	}
	return sum;
}
static int count(const char *text)
{
	int words = 0, in = 0;
	for (; *text; text++) {
		if (*text == ' ')
			in = 0;
		else if (!in) {
			in = 1;
			words++;
		}
	}
	return words;
}
int main(void)
{
	static const char text[] = "the quick, brown fox jumps over the lazy dog";
	int sum = 0;
	EACH(i, 25)
		sum += work(text, MIN(i * 3, (int)sizeof(text) - 1)) + count(text + i);
	return sum == 1;
}
CODE
cat >stack.cc <<'CODE'
#include <stdexcept>
#include <vector>
template <typename T, int N> class stack {
	T items[N];
	int count = 0;

public:
	void push(T item)
	{
		if (count == N)
			throw std::length_error("full");
		items[count++] = item;
	}
	T pop()
	{
		if (!count)
			throw 17;
		return items[--count];
	}
	bool empty() const { return !count; }
};
template <typename T> static T apply(char op, T a, T b)
{
	switch (op) {
	case '+': return a + b;
	case '-': return a - b;
	case '*': return a * b;
	default: throw std::runtime_error("operator");
	}
}
struct guard {
	int &depth;
	guard(int &d) : depth(d) { depth++; }
	~guard() { depth--; }
};
template <typename T> static T value(const char *text, int &depth)
{
	stack<T, 4> all;
	guard g(depth);
	for (; *text; text++) {
		if (*text >= '0' && *text <= '9') {
			all.push(*text - '0');
			continue;
		}
		T b = all.pop();
		T a = all.pop();
		all.push(apply(*text, a, b));
	}
	return all.pop();
}
extern "C" __attribute__((noinline)) int work(const char *text)
{
	int depth = 0;
	try {
		return value<int>(text, depth) + (int)value<long>(text, depth);
	} catch (const std::length_error &) {
		return 1;
	} catch (const std::exception &e) {
		return 2;
	} catch (int n) {
		return n + depth;
	}
}
int main()
{
	static const char *const texts[] = { "12+3*", "12345", "1+", "12/", "98-7*6+", "" };
	int sum = 0;
	std::vector<int> seen;
	for (int i = 0; i < 24; i++) {
		int n = work(texts[i % 6]);
		seen.push_back(n);
		sum += n;
	}
	for (int n : seen)
		sum -= n / 2;
	return sum == 1;
}
CODE
cat >machine.c <<'CODE'
#include <setjmp.h>
#include <stdint.h>
static jmp_buf out;
static float a[100], b[100], c[100];
__attribute__((noinline)) static void add(int n, float k)
{
	for (int i = 0; i < n; i++)
		a[i] = b[i] * k + c[i];
}
__attribute__((noinline)) static int kind(int x)
{
	switch (x) {
	case 0: return 5;
	case 1: return x * 3;
	case 2: return -x;
	case 3: return 40;
	case 4: return x << 3;
	case 5: return x | 64;
	case 6: return 9;
	case 7: longjmp(out, 3);
	}
	return 1;
}
__attribute__((noinline)) int work(const uint8_t *code)
{
	static void *const labels[] = { &&push, &&inc, &&dup, &&loop, &&end };
	int top = 0, rounds = 6;
	const uint8_t *at = code;
	goto *labels[*at++];
push:
	top = *at++;
	goto *labels[*at++];
inc:
	top++;
	goto *labels[*at++];
dup:
	top += top & 7;
	goto *labels[*at++];
loop:
	if (--rounds) {
		at = code + *at;
	} else
		at++;
	goto *labels[*at++];
end:
	return top;
}
int main(void)
{
	static const uint8_t code[] = { 0, 3, 1, 2, 1, 3, 2, 4 };
	volatile int sum = 0;
	for (int i = 0; i < 100; i++) {
		b[i] = (float)i;
		c[i] = (float)(i % 7);
	}
	for (int i = 0; i < 20; i++) {
		sum += work(code);
		add(i * 5, 1.5f);
	}
	if (setjmp(out))
		sum += 2;
	for (int i = sum & 1; i < 30; i++) {
		if (setjmp(out)) {
			sum++;
			continue;
		}
		sum += kind(i % 9) + (int)a[i];
	}
	return sum == 1;
}
CODE
record() { # SOURCE FLAGS
	${1#*.}_compiler $2 -g -static -no-pie -o plain "$1" && "$ptsim" record --cyc --interrupts=0 --seed=3 -o data -- ./plain >/dev/null 2>&1
}
c_compiler() { gcc "$@"; }
cc_compiler() { g++ "$@"; }
by_valgrind() {
	valgrind --tool=callgrind --skip-plt=no --dump-instr=yes --callgrind-out-file=callgrind ./plain >/dev/null 2>messages
	"$program" -q --no-warn -f callgrind --args=full data >ours || return 1
	for file in callgrind ours; do awk -v source=$1 -f "$own_lines" $file | without_calls $1 | sort >$file.lines; done
	diff callgrind.lines ours.lines && [ "$(wc -l <callgrind.lines)" -gt 40 ]
}
# valgrind counts a jump to another function as that function's call; here it is one more call of the same caller.
without_calls() { # SOURCE
	case $1 in stack.cc | machine.c) grep -v calls ;; *) cat ;; esac
}
by_perf() {
	perf annotate -i data --itrace=i1i --stdio --show-nr-samples -s work 2>messages |
		sed -nE 's/^ *([0-9]+) : +([0-9a-f]+):.*/\2 \1/p' | awk '$2' | sort >expected
	"$program" annotate -q work data | awk '/^ +[0-9]+ +[0-9.]+% / { line = $0; $0 = substr(line, 57); print $1, substr(line, 1, 12) + 0 }' |
		awk '$2' | sort | diff expected - && [ "$(wc -l <expected)" -gt 12 ]
}
by_gcov() {
	record $1 -O0 && ${1#*.}_compiler -O0 --coverage -o counted $1 && ./counted
	gcov -t ./counted-*.gcda >text 2>messages && "$program" -q -f lcov data >x.info || return 1
	awk -F: -v s=$1 '$3 == "Source" { on = $4 == s } on && $1 ~ /[0-9]/ && $2 > 0 && !seen[$2 + 0]++ { print $2 + 0, $1 + 0 }' text | sort >expected
	awk -F'[:,]' -v s=$1 '$1 == "SF" { on = $2 ~ s "$" } on && $1 == "DA" { print $2, $3 }' x.info | sort >ours
	# gcov has no arc from longjmp() to the setjmp() of machine.c, to which it leads three times, but lines of labels.
	[ $1 != machine.c ] || { awk 'NR == FNR { label[FNR] = /^[a-z]+:$/; next } !label[$1]' machine.c expected | sed 's/^63 30$/63 33/' >code && mv code expected; }
	join expected ours | awk '$2 != $3 { print; wrong = 1 } END { exit wrong || NR < 18 }' && ! join -v 1 expected ours | grep .
}
# Outputs with the costs of all calls, and the columns that each has: ns, instructions, cycles.
outputs="sqlite 3;pprof 3;folded 1;functions 1;slices 3;ftf 3;chrome 3;html 3;tree 1;speedscope 1;diff 2"
sum_of() { # FORMAT OPTIONS... DATA
	format=$1
	shift
	case $format in
	sqlite) rm -f calls.db && "$program" "$@" -o calls.db && sqlite3 -separator ' ' calls.db "select sum(return_time - call_time), sum(insn_count), sum(cyc_count) from calls
			where id > 0 and parent_id not in (select id from calls where id > 0)" ;;
	pprof) "$program" -f pprof "$@" -o x.pb.gz && python3 "$profile" x.pb.gz | awk '/^stack/ { ns += $NF; cycles += $(NF - 1); insns += $(NF - 2) } END { print ns, insns, cycles }' ;;
	folded) "$program" -f folded "$@" | awk '{ ns += $NF } END { print ns }' ;;
	functions) "$program" -f functions --json "$@" | jq '[.functions[].self_ns] | add' ;;
	diff) "$program" diff "$@" data --top=100000 --json >x.diff && python3 "$sums" diff x.diff ;;
	ftf) "$program" --args=full "$@" -o x.ftf && "$ftfdump" --slices x.ftf >x.slices && python3 "$sums" ftf x.slices ;;
	tree) "$program" -f tree "$@" -o x.tree && python3 "$sums" tree x.tree "$(cut -d ' ' -f 1 expected)" ;;
	*) "$program" --args=full -f $format "$@" -o x.$format && python3 "$sums" $format x.$format "$page" ;;
	esac
}
# Of --symbol, the callees count as well; of --within, some calls.
one_sum() {
	for choice in --threads=1 --threads=3 --inline --time=20%,70% --symbol=work '--within=work>p50' "--inline --symbol=work"; do
		# shellcheck disable=SC2086 # words
		set -- -q --no-warn $choice data
		"$program" -f callgrind "$@" >ours || return 1
		awk '/^calls=/ { getline; next } /^[0-9+*-]/ { insns += $2; cycles += $3; ns += $4 } END { print ns, insns, cycles }' ours >expected
		[ "$(cut -d ' ' -f 1 expected)" -gt 1000 ] || return 1
		for output in $(echo "$outputs" | tr ' ;' ', '); do
			sum_of ${output%,*} "$@" >got && cut -d ' ' -f 1-${output#*,} expected | diff - got || { echo "$output $choice"; return 1; }
		done
	done
}
# Instructions of work() in annotate and callgrind; its calls in functions, lcov and bolt; why's shares.
same_code() {
	"$program" annotate -q work data --json >x.json && "$program" -q --no-warn -f callgrind --args=full data >ours || return 1
	jq -r '.functions[0].code[] | [.address, .executions] | join(" ")' x.json | sort >expected
	awk '/^fn=/ { id = $1; if (NF > 1) name[id] = $2; on = name[id] == "work" } /^cfn=/ && NF > 1 { name[substr($1, 2)] = $2 }
		/^calls=/ { getline; next } on && /^0x/ { print $1, $3 }' ours | while read -r address count; do echo $((address)) "$count"; done | sort | diff expected - && [ -s expected ] || return 1
	jq -e '.functions[0] | . as $f | all(["executions", "instructions"], ["cycles", "cycles"], ["ns", "ns"]; . as $key | ([$f.code[][$key[0]]] | add) == $f[$key[1]])' x.json >got || { cat got; return 1; }
	entry=$(nm plain | sed -n 's/^0*\([0-9a-f]*\) T work$/\1/p')
	for choice in --threads=1 --threads=3 '--within=work>p50'; do
		set -- -q --no-warn "$choice" data
		calls=$("$program" -f functions --json "$@" | jq '.functions[] | select(.function == "work").calls')
		"$program" -f lcov "$@" | grep -x "FNDA:$calls,work" && "$program" -f bolt "$@" | awk -v e="$entry" -v calls="$calls" '
			$1 == "B" && $3 == e { n += $4 } END { print n; exit n != calls }' || { echo "$calls calls, $choice"; return 1; }
	done
	"$program" why -q --no-warn --symbol=work --slow=p50 --json data >x.json && python3 "$sums" why x.json
}
flags() { # SOURCE
	case $1 in words.c) echo -O2 ;; machine.c) echo -O3 ;; *) echo -O1 ;; esac
}
for source in sort.c shapes.cc scan.c words.c stack.cc machine.c; do
	record $source "$(flags $source)" >messages 2>&1 || tap_skip_all "programs cannot be made or traced here: $(cat messages)"
	case $source in
	words.c | stack.cc | machine.c)
		if command -v jq >/dev/null && command -v sqlite3 >/dev/null && ! grep -q 'this build is without lib' "$program"; then
			tap_check "$source: one sum in all outputs" one_sum
			tap_check "$source: code has the same counts in all outputs" same_code
		else
			tap_skip "$source: one sum in all outputs" "no jq, sqlite3, libsqlite3 or protobuf-c"
			tap_skip "$source: code has the same counts in all outputs" "no jq, sqlite3, libsqlite3 or protobuf-c"
		fi
		;;
	esac
	for by in valgrind perf gcov; do
		if command -v $by >/dev/null && { [ $by != valgrind ] || [ "$P2F_SANITIZED" != yes ]; }; then
			tap_check "$source: counts of $by" by_$by $source
		else
			tap_skip "$source: counts of $by" "no $by, or of no use here"
		fi
	done
done
tap_done
