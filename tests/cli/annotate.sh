#!/bin/sh
# SPDX-License-Identifier: MIT
# `ptrace2ftf annotate`, compared with valgrind's counts of each instruction, and with the source.
. "$top_srcdir/tests/support/tap.sh"
program=$(realpath "$top_builddir/ptrace2ftf")
ptsim=$(realpath "$top_builddir/tests/ptsim/ptsim")
programs=$(realpath "$top_builddir/tests/programs/static")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
"$ptsim" record --cyc --seed=3 -o perf.data -- "$programs/recursion" >/dev/null 2>messages ||
	tap_skip_all "programs cannot be traced here: $(cat messages)"

# "ADDRESS EXECUTIONS" of the output's instructions.
"$program" annotate -q fibonacci -o text 2>messages
awk '/^ +[0-9]+ +[0-9.]+% / { line = $0; $0 = substr(line, 57); print $1, substr(line, 1, 12) + 0 }' text | sort >ours
as_valgrind() {
	valgrind --tool=callgrind --dump-instr=yes --compress-pos=no --compress-strings=no --callgrind-out-file=callgrind "$programs/recursion" >/dev/null 2>&1
	awk '/^fn=/ { on = $0 ~ /^fn=fibonacci/ } /^calls=/ { getline; next } on && /^0x/ { n[substr($1, 3)] += $3 }
		END { for (a in n) print a, n[a] }' callgrind | sort >expected
	diff expected ours && [ "$(wc -l <expected)" -gt 8 ]
}
if command -v valgrind >/dev/null && [ "$P2F_SANITIZED" != yes ]; then
	tap_check "each instruction ran as often as valgrind counts" as_valgrind
else
	tap_skip "each instruction ran as often as valgrind counts" "no valgrind, or of no use here"
fi

# A jump's executions are the taken and the not taken ones; costs add up.
answer() {
	"$program" annotate -q --json fibonacci >json && python3 - <<-'END'
		import json
		(f,) = json.load(open("json"))["functions"]
		code = f["code"]
		jumps = [i for i in code if "taken" in i]
		assert jumps and all(i["taken"] + i["not_taken"] == i["executions"] for i in jumps)
		assert f["calls"] == 465 and f["cycles"] > 0
		for key, all in (("executions", "instructions"), ("cycles", "cycles"), ("ns", "ns")):
		    assert sum(i[key] for i in code) == f[all], key
	END
}
if command -v python3 >/dev/null; then
	tap_check "--json has all costs of the function, by instruction" answer
else
	tap_skip "--json has all costs of the function, by instruction" "no python3"
fi

without_objdump() {
	mkdir -p empty && PATH=$work/empty "$program" annotate fibonacci -o bare 2>messages
	grep -q 'objdump is missing' messages && [ "$(grep -c '%' bare)" -eq "$(wc -l <ours)" ]
}
tap_check "without objdump instructions have addresses" without_objdump

# A program in the place of objdump tries system calls that objdump does not need.
sandboxed() {
	set -- $(sed -n 's/ .*//; 1,2p' ours)
	mkdir -p fake && cat >fake/objdump <<-END
		#!/bin/sh
		printf '  %s:\\t%s\\n' $1 started
		/bin/true
		printf '  %s:\\t%s\\n' $2 forked
	END
	chmod +x fake/objdump
	PATH=$work/fake:$PATH "$program" annotate -q fibonacci -o faked 2>/dev/null
	grep -q "$1  started" faked && ! grep forked faked
}
if grep -q ^Seccomp: /proc/self/status && [ "$(uname -m)" = x86_64 ]; then
	tap_check "objdump may start no process" sandboxed
else
	tap_skip "objdump may start no process" "no seccomp"
fi

# A program in the place of objdump waits for ever, while the output has its temporary name.
soon() { # COMMAND...
	for _ in $(seq 200); do
		"$@" && return
		sleep 0.05
	done
	return 1
}
is_begun() { ls killed.*.tmp >/dev/null 2>&1; }
is_over() { ! is_begun; }
killed() {
	mkdir -p slow && mkfifo never && printf '#!/bin/sh\nread -r line <%s\n' "$work/never" >slow/objdump && chmod +x slow/objdump
	echo before >killed
	PATH=$work/slow:$PATH "$program" annotate -q fibonacci -o killed &
	soon is_begun && kill -KILL $! || return 1
	wait $!
	: <>never # objdump reads the end of its file
	soon is_over && [ "$(cat killed)" = before ]
}
if [ "$P2F_SANITIZED" != yes ]; then
	tap_check "killed, it leaves the old output and no temporary file" killed
fi

# A program in the place of objdump gives its first instruction its process's number, and a long name.
once_for_a_file() {
	mkdir -p once && cat >once/objdump <<-'END'
		#!/bin/sh
		for word; do
			case $word in --start-address=0x*) at=${word#*0x} ;; esac
		done
		printf '  %s:\tprocess %s %01000d\n' $at $$ 0
	END
	chmod +x once/objdump
	PATH=$work/once:$PATH "$program" annotate -q '*' -o faked 2>/dev/null
	functions=$(grep -c '^[^ ].* calls*, .* instructions, ' faked) runs=$(grep -c 'process [0-9]' faked)
	echo "# $functions functions, $runs runs"
	[ "$functions" -gt 20 ] && [ "$runs" -ge 1 ] && [ "$runs" -lt $((functions / 5)) ] &&
		! grep -q '.\{400\}' faked
}
tap_check "one objdump disassembles the functions of a file, in short lines" once_for_a_file

# Another process than the one that decodes writes these answers.
keeps_program() {
	cp "$programs/recursion" copied
	"$ptsim" record --cyc --seed=3 -o copied.data -- "$work/copied" >/dev/null 2>&1
	cp copied.data again.data
	for words in "annotate fibonacci copied.data" "why copied.data again.data" "why perf.data copied.data" \
		"diff copied.data again.data" "diff perf.data copied.data"; do
		"$program" $words -o copied >/dev/null 2>messages
		[ $? -eq 1 ] && grep -q 'cannot write to copied: it is the input' messages &&
			cmp -s "$programs/recursion" copied || { echo "$words: $(cat messages)"; return 1; }
	done
}
tap_check "no answer replaces the program that was recorded" keeps_program

wrong() {
	"$program" annotate 2>messages
	[ $? -eq 64 ] && grep -q 'annotate needs a function' messages || return 1
	"$program" annotate nothing >none 2>messages
	[ $? -eq 2 ] && [ ! -s none ] && grep -q "no function matching 'nothing' was called" messages
}
tap_check "a function must be named, and be called" wrong
tap_done
