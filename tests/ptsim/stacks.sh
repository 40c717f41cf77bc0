#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs recorded by ptsim: the slices are the true stacks, by the stack
# pointer: nesting, names, instructions, begin and end within a timing packet.  The
# programs are static, so that every function has a name.
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/support/stack_rules.sh"
ptsim=$top_builddir/tests/ptsim/ptsim
programs=$top_builddir/tests/programs/static
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$ptsim" record -o "$work/perf.data" -- "$programs/tail" >/dev/null 2>"$work/messages" ||
	tap_skip_all "programs cannot be traced here: $(cat "$work/messages")"

# By the truth's stack pointers, a function that jumps to another ends; tails.sh tests the default.
replaced=--stacks=replace

same_stacks() { # TOLERANCE [--only=REGEX: names] OPTIONS... -- PROGRAM
	tolerance=$1
	shift
	only=
	case $1 in
	--only=*) only=${1#--only=} && shift ;;
	esac
	"$ptsim" record --truth="$work" -o "$work/perf.data" "$@" >"$work/output" 2>"$work/messages" ||
		{ cat "$work/messages"; return 1; }
	"$top_builddir/ptrace2ftf" -q $replaced --format=slices --args=full "$work/perf.data" >"$work/slices" ||
		return 1
	awk -v tolerance="$tolerance" -v only="$only" -f "$top_srcdir/tests/ptsim/slices.awk" \
		"$work/truth.counts" "$work/slices" >"$work/result"
	status=$?
	tail -n 1 "$work/result" >>"$work/compared"
	cat "$work/result"
	[ $status -eq 0 ] && keeps_rules "$programs" "$work/perf.data"
}

# About one instruction of a hundred is lost. 99% of the calls that begin in whole parts of
# the trace must have the right name and parent, by diff.
right_parents() { # OPTIONS... -- PROGRAM
	"$ptsim" record --truth="$work" -o "$work/perf.data" --overflows=6000 --overflow-length=120 \
		"$@" >"$work/output" 2>"$work/messages" || { cat "$work/messages"; return 1; }
	"$top_builddir/ptrace2ftf" -q --no-warn $replaced --format=slices --args=line "$work/perf.data" >"$work/slices"
	awk -v marks=1 -v tolerance=100 -f "$top_srcdir/tests/ptsim/parents.awk" \
		"$work/truth.branches" "$work/truth.slices" >"$work/marked"
	sed 's/^?//' "$work/marked" >"$work/all"
	awk -f "$top_srcdir/tests/ptsim/parents.awk" "$work/slices" >"$work/mine"
	diff -d --unchanged-line-format= --new-line-format= --old-line-format='%dn
' "$work/all" "$work/mine" >"$work/missing"
	awk 'FILENAME == ARGV[1] { missing[$1] = 1; next } !/^\?/ { n++; wrong += FNR in missing }
		END { printf "%d calls, %d with another parent (%.2f%% right)\n", n, wrong, 100 - 100 * wrong / n
		      exit n < 400 || wrong > n / 100 }' "$work/missing" "$work/marked" >"$work/result"
	status=$?
	cat "$work/result" | tee -a "$work/parents"
	[ $status -eq 0 ] && keeps_rules "$programs" "$work/perf.data"
}

# Where trace is missing, callers may be unknown, but not wrong.
true_callers() { # OPTIONS... -- PROGRAM
	"$ptsim" record --cyc --truth="$work" -o "$work/perf.data" "$@" >"$work/output" 2>"$work/messages" ||
		{ cat "$work/messages"; return 1; }
	for format in slices branches; do
		"$top_builddir/ptrace2ftf" -q --no-warn $replaced --args=full --format=$format "$work/perf.data" \
			>"$work/$format"
	done
	awk -v truth=1 -f "$top_srcdir/tests/oracle/branches.awk" "$work/truth.branches" >"$work/all"
	awk -f "$top_srcdir/tests/oracle/branches.awk" "$work/branches" >"$work/mine"
	awk -f "$top_srcdir/tests/ptsim/chains.awk" "$work/all" "$work/truth.slices" "$work/mine" \
		"$work/slices" >"$work/result"
	status=$?
	cat "$work/result" | tee -a "$work/parents"
	[ $status -eq 0 ] && keeps_rules "$programs" "$work/perf.data"
}

# A function's callee returns and it jumps to another one, all at the time of one packet: no other stack.
rules_know_jumps() {
	cat >"$work/dump" <<-'END'
	0 complete 1/1 20000000100 20000000200 "outer" category "file" symbol=outer
	0 complete 1/1 20000000150 20000000200 "inner" category "file" symbol=inner
	0 complete 1/1 20000000200 20000000300 "next" category "file" symbol=next
	END
	: >"$work/wanted"
	awk -v wanted="$work/wanted" -f "$top_srcdir/tests/oracle/stack_rules.awk" "$work/dump" || return 1
	for jump in 'jmp    30 <next>' 'je     30 <next>' 'jmp    *%rax' 'jmp    20 <inner>' 'notrack jmp *%rax'; do
		printf '%s\n' '10 <outer>:' " 11:	$jump" '20 <inner>:' ' 21:	jmp    30 <next>' '30 <next>:' |
			awk -v file=file -f "$top_srcdir/tests/oracle/stack_code.awk" "$work/wanted" - >"$work/verdict"
		echo "$? $jump"
	done >"$work/verdicts"
	[ "$(cut -c 1 "$work/verdicts" | tr '\n' ' ')" = '0 0 0 1 1 ' ] || { cat "$work/verdicts" "$work/wanted"; return 1; }
}
tap_check "rules: the outermost of functions that end together may have jumped" rules_know_jumps

# One MTC period is 320 ns; with CYC a packet holds six decisions.
for name in transfers longjmp coroutines switches stack_kinds threads signals ocaml_traps ocaml_scanned \
	${LONG:+recursion tail indirect} $LONG_PROGRAMS; do
	tap_check "$name: the true stacks, MTC" same_stacks 700 --seed=3 -- "$programs/$name"
done
# The programs whose times matter most.
cyc_programs='threads ocaml_traps'
[ -z "$LONG" ] || cyc_programs="$cyc_programs switches signals recursion tail transfers longjmp indirect coroutines stack_kinds ocaml_scanned $LONG_PROGRAMS"
for name in $cyc_programs; do
	# seeds.md: the compiler's notes .note.ocaml_eh say where handlers are (1.1)
	tap_check "$name: the true stacks, CYC" same_stacks 400 --cyc --cpus=2 --seed=4 -- "$programs/$name"
done
# A landing pad in catches() or deeper in descends() proves the stack, so these have no mark.
between_stacks() {
	same_stacks 700 --seed=3 -- "$programs/fibers" && grep -q ' catches ' "$work/slices" &&
		! grep -E ' (catches|descends) .*uncertain_level' "$work/slices"
}
tap_check "fibers: exceptions between stacks, and stacks of setjmp()" between_stacks
tap_check "unwinding: exceptions in recursive functions" same_stacks 700 --seed=3 -- "$programs/unwinding"
# setjmp()'s frame is the wrapper's callee here, and its caller's by the stack pointer.
guards='--only=^(main|work|guard.*|middle|leaf|throws|spawns)$'
tap_check "wrapped: longjmp() to code that took its return address from the stack" same_stacks 700 "$guards" --seed=3 -- \
	"$programs/wrapped"
if ! command -v musl-gcc >/dev/null; then
	tap_skip "sigsetjmp: musl" "no musl-gcc"
else
	for kind in -static -no-pie; do
		musl-gcc $kind -g -O1 -fno-optimize-sibling-calls -o "$work/sigsetjmp" "$top_srcdir/tests/programs/sigsetjmp.c" &&
			tap_check "sigsetjmp: musl, $kind" same_stacks 700 "$guards" --seed=3 -- "$work/sigsetjmp"
	done
fi
# The library's code first runs after main() and the threads that mapped its memory have ended.
cancelled() {
	same_stacks 700 --seed=3 -- "$programs/cancel" || return 1
	[ "$(cat "$work/output")" = 125 ] && ! grep 'odd steps' "$work/messages" ||
		{ cat "$work/output" "$work/messages"; return 1; }
}
tap_check "cancel: threads that are cancelled, and main() ends before another; to the program's end" cancelled
tap_check "dlclose: the true stacks of two libraries at one address" same_stacks 700 \
	'--only=^(main|run|plugin|work_of_plugin_[ab])$' --seed=3 -- "$top_builddir/tests/programs/plugins"
# A system call's number is known where the caller's code sets no other: one of six calls comes from
# code that sets another number.
syscalls_by_number() { # PROGRAM
	same_stacks 700 '--only=^(main|one|one_of_two|seldom_another|seldom_another_itself|by_jump|passed_on|passed_on_thrice|two_entries|after_the_begin|passed_by_main|jumped_to|outer|inner|innermost|\[.*)$' --seed=3 -- "$1" || return 1
	numbers='6:getppid 6:getpriority 6:munlockall 0:getegid 0:getgid'
	! grep -q optimized "$work/output" || numbers="$numbers 6:getpgid 6:getsid 6:getresuid 6:getuid"
	! nm "$1" | grep -q 'seldom_another\.cold' || numbers="$numbers 10:geteuid"
	for name in $numbers; do
		[ "$(grep -c "\[syscall: ${name#*:}\]" "$work/slices")" -eq "${name%:*}" ] || { echo "not $name"; return 1; }
	done
}
tap_check "syscall(): the number that the caller's code has, if that has no other" syscalls_by_number "$programs/syscalls"
tap_check "syscall(): the same through a stub" syscalls_by_number "$top_builddir/tests/programs/syscalls"
# The trace begins within main(), so main()'s own caller is unknown.
callers_that_were_running() {
	"$ptsim" record --snapshot=1024 --psb-period=128 --seed=3 -o "$work/perf.data" -- "$programs/syscalls" \
		>"$work/output" 2>"$work/messages" || { cat "$work/messages"; return 1; }
	"$top_builddir/ptrace2ftf" -q --format=slices "$work/perf.data" >"$work/slices" || return 1
	! grep ' _start' "$work/slices" &&
		[ "$(grep -c '\[syscall: munlockall\]' "$work/slices")" -ge 2 ] &&
		{ ! grep -q optimized "$work/output" || [ "$(grep -c '\[syscall: getuid\]' "$work/slices")" -ge 2 ]; }
}
tap_check "syscall(): the same by a function whose begin is not in the trace" callers_that_were_running
# main() calls each function ten times. A label is a function only if it is called, or looks like one
# in all respects.
labels_are_no_functions() {
	same_stacks 700 --seed=3 -- "$programs/labels" || return 1
	"$top_builddir/ptrace2ftf" -q --format=branches "$work/perf.data" >"$work/branches" || return 1
	[ "$(grep -c '=> .* sized+0x7$' "$work/branches")" -eq 10 ] && ! grep ' after_syscall+' "$work/branches" || return 1
	for name in sized typed dotted dotted.helper untyped follows last_of_section next_section; do
		echo "10 $name"
	done | sort >"$work/expected"
	grep -E ' (sized|typed|dotted|untyped|follows|last_|next_|hidden_|local_|after_)[^ ]* address=' "$work/slices" |
		awk '{ n[$5]++ } END { for (name in n) print n[name], name }' | sort | diff "$work/expected" -
}
tap_check "labels: those inside functions are no functions" labels_are_no_functions
# Events may be earlier than the fork that came before them, by up to a timing packet.
forks='--only=^(main|level|work|one|other|in_thread)$'
tap_check "forks: children begin in the call that forked them, MTC" same_stacks 700 "$forks" --seed=3 -- \
	"$programs/forks"
[ -z "$LONG" ] || tap_check "forks: the same, MTC seldom" same_stacks 100000 "$forks" --mtc-period=9 --seed=4 -- \
	"$programs/forks"
[ -z "$LONG" ] || tap_check "forks: the same, TSC only" same_stacks 1000000 "$forks" --no-mtc --cpus=2 \
	--seed=3 -- "$programs/forks"
# main() is left out: it ends when the exec is recorded, some time after its system call.
tap_check "family: the same, with exec" same_stacks 700 '--only=^(child|work|__libc_fork|_Fork)$' \
	--seed=3 -- "$programs/family"
# Where times are coarse, only the entry of a program shows that the code of the previous one ended;
# the function that ran exec ends when the exec is recorded.
execs='--only=^(work|on_signal|even|odd)$'
tap_check "execs: programs at the same addresses, MTC" same_stacks 700 "$execs" --seed=3 -- \
	"$programs/execs" 2 "$programs/tail"
if [ -n "$LONG" ]; then
	tap_check "execs: the same, MTC seldom" same_stacks 100000 "$execs" --mtc-period=9 --seed=4 -- \
		"$programs/execs" 2 "$programs/tail"
	tap_check "execs: the same, TSC only" same_stacks 1000000 "$execs" --no-mtc --cpus=2 --seed=3 -- \
		"$programs/execs" 2 "$programs/tail"
fi
# Each program faults on its first instruction, and resumes at its entry, which all programs share.
[ -z "$LONG" ] || tap_check "execs: one entry, page faults" same_stacks 700 "$execs" --faults --seed=5 -- \
	"$programs/execs" 2 "$programs/tail"
tap_check "execs: one entry, page faults, TSC only" same_stacks 1000000 "$execs" --faults --no-mtc --cpus=2 --seed=5 -- \
	"$programs/execs" 2 "$programs/tail"
# The program's calls belong to the remaining thread, whose tid is the pid.
becomes_leader() { # OPTIONS...
	"$ptsim" record -o "$work/perf.data" --per-thread "$@" -- "$programs/thread_exec" "$programs/tail" \
		>/dev/null 2>"$work/messages"
	for engine in fast libipt; do
		"$top_builddir/ptrace2ftf" -q $replaced --engine=$engine -f slices -o "$work/slices" "$work/perf.data"
		awk '$5 == "even" { split($1, id, "/"); n++; others += id[1] != id[2] }
			END { exit !(n >= 200 && !others) }' "$work/slices" || { echo "$engine"; return 1; }
	done
}
leader='--only=^(main|__pthread_clockjoin_ex|work|become|wait_for_ever|even|odd)$'
tap_check "thread_exec: a thread that runs exec becomes the leader" same_stacks 700 "$leader" \
	--cpus=2 --seed=3 -- "$programs/thread_exec" "$programs/tail"
[ -z "$LONG" ] || tap_check "thread_exec: the same, TSC only" same_stacks 1000000 "$leader" --no-mtc --faults \
	-- "$programs/thread_exec" "$programs/tail"
for options in "--no-tsc --no-mtc" ${LONG:+"--seed=3" "--no-mtc --faults"}; do
	tap_check "thread_exec: a buffer per thread, $options" becomes_leader $options
done
# The kernel reports the end of a leader last: a wait for it alone would never end.
for cpus in 2 ${LONG:+1 3}; do
	tap_check "group_exit: a thread ends the others, $cpus CPUs" same_stacks 700 '--only=^end$' \
		--time-limit=60 --cpus=$cpus --seed=3 -- "$programs/group_exit"
done
does_not_end() {
	! "$ptsim" record --time-limit=1 -o "$work/perf.data" -- sleep 600 2>"$work/messages" &&
		grep -q '^ptsim: cannot record sleep: it does not end' "$work/messages" &&
		grep -q '^ptsim: thread [0-9]* of [0-9]* (sleep)' "$work/messages"
}
tap_check "ptsim ends a program that does not end in time, and names its threads" does_not_end
for name in threads ${LONG:+recursion indirect signals}; do
	tap_check "$name: the right parents, 1% lost" right_parents --cyc --seed=9 -- "$programs/$name"
done
for name in recursion unwinding; do
	[ "$name$LONG" = unwinding ] ||
		tap_check "$name: the true callers or a mark, overflows" true_callers --overflows=1500 --seed=21 -- "$programs/$name"
	[ "$name$LONG" = recursion ] ||
		tap_check "$name: the true callers or a mark, full buffers" true_callers --lose=3000 --seed=31 -- "$programs/$name"
done
tap_check "replaced: the true callers of functions that return through a tracer or by a jump" true_callers \
	--overflows=1500 --seed=3 -- "$programs/replaced"
tap_check "raised: the true callers of a handler in which the trace begins" true_callers --snapshot=1024 --psb-period=128 \
	--seed=5 -- "$programs/raised"
sed 's/^/# /' "$work/parents"
echo "# $(awk '{ n += $1; w += $4 } END { print n " frames compared, " w " wrong" }' "$work/compared")"
tap_done
