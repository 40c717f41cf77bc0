#!/bin/sh
# SPDX-License-Identifier: MIT
# --format=insns and lines: the code in the order in which it ran. The model reads objdump's
# instructions from the target of each true branch to the next branch; addr2line has their lines.
. "$top_srcdir/tests/support/tap.sh"
program=$top_builddir/ptrace2ftf
ptsim=$top_builddir/tests/ptsim/ptsim
traced=$top_builddir/tests/programs/static/recursion
inlining=$top_builddir/tests/programs/inlined
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
for tool in objdump addr2line; do
	command -v $tool >/dev/null || tap_skip_all "no $tool"
done
"$ptsim" record --cyc --interrupts=0 --seed=3 --truth=. -o recursion -- "$traced" >/dev/null 2>messages ||
	tap_skip_all "programs cannot be traced here: $(cat messages)"
objdump -d --no-show-raw-insn "$traced" >code

# "depth address function mnemonic" of each true instruction. A call of `inside` begins at depth 1.
true_insns() { # [FUNCTION]
	awk -v inside="$1" '
	FILENAME == "code" && /^[0-9a-f]+ <.*>:$/ {
		gsub(/[<>:]/, "", $2)
		function_now = $2
	}
	FILENAME == "code" && /^ +[0-9a-f]+:\t/ {
		sub(":", "", $1)
		number[$1] = ++count
		address[count] = $1
		names[count] = function_now
		for (i = 2; $i ~ /^(addr32|bnd|cs|ds|data16|lock|notrack|rep[nz]*)$/; i++)
			continue
		text[count] = $i
	}
	FILENAME == "code" { next }
	{
		for (i = begin; begin && $7 != 0 && i <= number[$7]; i++) {
			if (names[i] == inside && !depth)
				depth = 1
			print depth, address[i], names[i], text[i]
		}
		depth += depth ? ($6 ~ /^i*call$/) - ($6 == "ret") : 0
		begin = $8 == 0 ? 0 : number[$8]
	}' code truth.branches
}
true_insns main >true

# "address mnemonic" in the order shown.
shown_insns() { # OPTIONS...
	"$program" -q --format=insns "$@" recursion | sed 's/.*:  *\([0-9a-f]*\) .*\t\t/\1 /' |
		sed 's/ \(addr32\|bnd\|cs\|ds\|data16\|lock\|notrack\|rep[nz]*\) / /' | cut -d ' ' -f 1,2
}

# capstone shows the size of an operand in the mnemonic: subq for sub. Instructions that it does not
# know are bytes.
all_insns() {
	awk '{ print $2, $4 }' true >expected
	shown_insns >ours
	paste -d ' ' expected ours | awk '$1 != $3 || $2 != $4 && $4 !~ "^" $2 "[bwlq]$" && $4 != ".byte" && $4 != "movd" && $2 $4 != "xchgnop"' >differences
	[ ! -s differences ] && [ "$(wc -l <ours)" -gt 20000 ] && return 0
	sort differences | uniq -c | sort -rn | head
	return 1
}

chosen_insns() {
	awk '$1 { print $2 }' true >expected
	shown_insns --symbol=main | cut -d ' ' -f 1 >ours
	diff expected ours >differences && [ "$(wc -l <ours)" -gt 5000 ] && return 0
	head differences
	return 1
}

# Rows "function (file:line)", indented; each different from the one before. Code without lines is
# "-", as functions of the C library have several names.
lines() {
	awk '$1' true >chosen
	cut -d ' ' -f 2 chosen | sort -u >addresses
	addr2line -a -f -e "$traced" <addresses | paste - - - |
		awk '{ sub("^0x0*", "", $1); print $1, $2, $3 }' >found
	awk 'FILENAME == "found" { if ($3 !~ /:[0?]/) at[$1] = $2 " (" $3 ")"; next }
		{
			row = !($2 in at) ? "-" : sprintf("%*s%s%s", 2 * ($1 > 65 ? 64 : $1 - 1), "", $1 > 65 ? "[depth " $1 - 1 "] " : "", at[$2])
			if (row != last)
				print row
			last = row
		}' found chosen >expected
	"$program" -q --demangle=none --format=lines --symbol=main recursion | sed 's/^[^:]*:  //; /)$/!s/.*/-/' |
		awk '$0 != "-" || last != "-"; { last = $0 }' >ours
	diff expected ours >differences && [ "$(wc -l <ours)" -gt 1000 ] && return 0
	head differences
	return 1
}

# By the addresses of insns, below symbols of the program.
inlined_lines() {
	"$ptsim" record --interrupts=0 --seed=3 -o inlined -- "$inlining" >/dev/null 2>messages || return 1
	nm "$inlining" | awk '$2 ~ /^[Tt]$/ { print $3, $1 }' >symbols
	"$program" -q --format=insns inlined | sed -n 's/.*:  *[0-9a-f]* \(.*\)+0x\([0-9a-f]*\)\t\t.*/\1 \2/p' |
		awk 'function hex(text, i, n) {
				for (i = 1; i <= length(text); i++)
					n = n * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
				return n
			}
			NR == FNR { start[$1] = $2; next }
			$1 in start { printf "%x\n", hex(start[$1]) + hex($2) }' symbols - >ran
	addr2line -f -e "$inlining" <ran | paste - - | awk '$2 !~ /:[0?]/ { print $1, "(" $2 ")" }' | uniq >expected
	"$program" -q --demangle=none --format=lines inlined | sed -n 's/^[^:]*:  *\(.*(.*inlined\.c:[0-9]*)\)$/\1/p' | uniq >ours
	diff expected ours >differences && [ "$(cut -d ' ' -f 1 ours | sort -u | wc -l)" -gt 5 ] && return 0
	head differences
	return 1
}

within_time() { # the rows of a time are those of the whole that have such times
	"$program" -q --format=insns recursion | awk '$2 + 0 >= 20.001044 && $2 + 0 <= 20.001048' | sort >whole
	"$program" -q --format=insns --time=20.001044,20.001048 --tid=1001 recursion | sort >part
	[ "$(wc -l <part)" -gt 100 ] && ! comm -23 part whole | head | grep .
}

refuses() {
	for format in lines insns; do
		for options in --inline --stacks=magic-trace --fibers --clock=insns; do
			! "$program" -q --format=$format $options recursion >out 2>messages && grep -q "^ptrace2ftf: .*--" messages ||
				{ echo "$format $options"; cat messages; return 1; }
		done
	done
}

says_what_lacks() {
	! "$program" -q --format=insns -o out.insns recursion 2>messages &&
		grep -q 'this build is without capstone; build it again with libcapstone-dev' messages
}

if grep -q 'this build is without capstone' "$program"; then
	tap_check "insns: a build without capstone says what it lacks" says_what_lacks
else
	tap_check "insns: those that ran, in their order, as objdump names them" all_insns
	tap_check "insns: of the calls that are chosen" chosen_insns
	tap_check "insns: of a time and a thread" within_time
fi
tap_check "lines: as addr2line has them, by depth, equal ones once" lines
if grep -q 'this build is without capstone' "$program"; then
	tap_skip "lines: the innermost inlined function" "no capstone"
else
	tap_check "lines: the innermost inlined function" inlined_lines
fi
tap_check "both need the true stacks, without inlined slices, and times" refuses
tap_done
