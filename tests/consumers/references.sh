#!/bin/sh
# SPDX-License-Identifier: MIT
# Executions of three programs, by instruction as valgrind and perf annotate count them, and by line as gcov does.
. "$top_srcdir/tests/support/tap.sh"
program=$(realpath "$top_builddir/ptrace2ftf")
ptsim=$(realpath "$top_builddir/tests/ptsim/ptsim")
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
record() { # SOURCE FLAGS
	${1#*.}_compiler $2 -g -static -no-pie -o plain "$1" && "$ptsim" record --cyc --interrupts=0 --seed=3 -o data -- ./plain >/dev/null 2>&1
}
c_compiler() { gcc "$@"; }
cc_compiler() { g++ "$@"; }
by_valgrind() {
	valgrind --tool=callgrind --skip-plt=no --dump-instr=yes --callgrind-out-file=callgrind ./plain >/dev/null 2>messages
	"$program" -q --no-warn -f callgrind --args=full data >ours || return 1
	awk -v source=$1 -f "$own_lines" callgrind | sort >expected
	awk -v source=$1 -f "$own_lines" ours | sort | diff expected - && [ "$(wc -l <expected)" -gt 40 ]
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
	join expected ours | awk '$2 != $3 { print; wrong = 1 } END { exit wrong || NR < 18 }' && ! join -v 1 expected ours | grep .
}
for source in sort.c shapes.cc scan.c; do
	record $source -O1 >messages 2>&1 || tap_skip_all "programs cannot be made or traced here: $(cat messages)"
	for by in valgrind perf gcov; do
		if command -v $by >/dev/null && { [ $by != valgrind ] || [ "$P2F_SANITIZED" != yes ]; }; then
			tap_check "$source: counts of $by" by_$by $source
		else
			tap_skip "$source: counts of $by" "no $by, or of no use here"
		fi
	done
done
tap_done
