#!/bin/sh
# SPDX-License-Identifier: MIT
# A whole machine recorded by ptsys: user code and kernel, with interrupts in
# interrupts, NMIs, page faults of both and double faults on stacks of their own,
# system calls by an entry trampoline, context switches, retpolines and code that
# the kernel changes.  The decoder must find the executed branches, on the right
# threads, and the true stacks.  With LONG=1 (make check-long) with more options.
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/ptsys/guest_log.sh"
ptsys=$top_builddir/tests/ptsys/ptsys
[ -x "$ptsys" ] || tap_skip_all "ptsys is not built: libzydis-dev is not installed"
program=$top_builddir/ptrace2ftf
guest=$top_builddir/tests/ptsys/guest
[ -f "$guest/vmlinux" ] || tap_skip_all "the compiler makes no return thunks, which the guest's kernel has (gcc 8, clang 15)"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
recording=$work/recording

reason=$(guest_log "$work/log") || tap_skip_all "$reason"

record() { # OPTIONS...
	rm -rf "$recording"
	"$ptsys" --kernel="$guest/vmlinux" --user="$guest/user" --truth="$work" -o "$recording" "$@" \
		<"$work/log" >"$work/messages" 2>&1 || { cat "$work/messages"; return 1; }
	sed 's/^/# /' "$work/messages" >>"$work/recorded"
	normal "$work/truth.branches" -v truth=1 >"$work/truth"
}

normal() { # FILE [-v VAR=VALUE]...: branches per thread in one form
	normal_file=$1
	shift
	sed 's/hw int/hwint /' "$normal_file" | awk "$@" -f "$top_srcdir/tests/oracle/branches.awk" |
		sort -s -k1,1n
}

# No decoder shows a direct call after the last packet of the trace.
same() { # TRUTH FOUND
	diff "$1" "$2" >"$work/difference"
	[ "$(grep -c '^[<>]' "$work/difference")" -le 1 ] && ! grep '^>' "$work/difference" && return 0
	head -n 20 "$work/difference"
	return 1
}

# gcc 12 makes 18,718 branches, of which perf sees 8,556; clang makes fewer, with conditional moves and
# loops instead of recursion.
we_agree() { # OPTIONS...
	"$program" -q --format=branches "$@" "$recording" >"$work/text" || return 1
	normal "$work/text" >"$work/ours"
	[ "$(wc -l <"$work/ours")" -gt 6000 ] && same "$work/truth" "$work/ours"
}

# Each decoding thread sees the kernel's code as of its own position in the trace.
threads_agree() {
	"$program" -q --format=branches -j 1 "$recording" >"$work/one" &&
		PTRACE2FTF_SEGMENT=2000 "$segments" -q --format=branches -j 2 "$recording" >"$work/two" &&
		cut -d : -f 2- "$work/one" >"$work/one.places" && cut -d : -f 2- "$work/two" >"$work/two.places" &&
		cmp "$work/one.places" "$work/two.places"
}

# perf 6.1 knows TEXT_POKE, but decodes this kernel's old code all the same; and
# near a switch it takes the next thread for the current one. So threads are not compared. With an
# MTC packet every 40 ns, perf never looks for user code in the wrong process.
perf_agrees() {
	record --until-poke --cyc --mtc-period=0 || return 1
	perf script -i "$recording" --itrace=b -F pid,tid,time,flags,ip,addr --ns 2>/dev/null >"$work/text"
	sed 's/hw int/hwint /' "$work/text" | awk -f "$top_srcdir/tests/oracle/branches.awk" |
		cut -d ' ' -f 2- >"$work/perf"
	awk -v truth=1 -f "$top_srcdir/tests/oracle/branches.awk" "$work/truth.branches" |
		cut -d ' ' -f 2- >"$work/all"
	[ "$(wc -l <"$work/perf")" -gt 2500 ] && same "$work/all" "$work/perf"
}

# By the truth, a function that jumps to another ends. Leave out slices that began before the trace, as
# their begin is not known.
true_stacks() { # TOLERANCE
	"$program" -q --stacks=replace --format=slices --args=full "$recording" >"$work/slices" || return 1
	grep -v inferred_start_time "$work/slices" >"$work/slices.seen"
	grep -v ptsys_trace_stop "$work/truth.counts" >"$work/truth.seen"
	awk -v tolerance="$1" -f "$top_srcdir/tests/ptsim/slices.awk" "$work/truth.seen" "$work/slices.seen" >"$work/result"
	status=$?
	cat "$work/result" | tee -a "$work/recorded"
	[ "$(awk 'END { print $1 }' "$work/result")" -gt 1500 ] && return $status
}

# With one privilege level, the slices are the same. The kernel's depths are not compared: they count
# from the kernel's first function.
true_mode() { # MODE
	nm "$guest/vmlinux" | awk '{ print $3 }' >"$work/kernel.names"
	echo __entry_SYSCALL_64_trampoline >>"$work/kernel.names"
	"$program" -q --stacks=replace --mode="$1" --format=slices --args=line "$recording" >"$work/slices" || return 1
	grep -v inferred_start_time "$work/slices" | of_mode "$1" | sort -s -k 3,3n >"$work/slices.seen"
	grep -v ptsys_trace_stop "$work/truth.slices" | of_mode "$1" | sort -s -k 3,3n >"$work/truth.seen"
	awk -v tolerance=700 -f "$top_srcdir/tests/ptsim/slices.awk" "$work/truth.seen" "$work/slices.seen" >"$work/result"
	status=$?
	cat "$work/result"
	[ "$(grep -c . "$work/slices.seen")" -eq "$(grep -c . "$work/truth.seen")" ] || return 1
	[ "$(awk 'END { print $1 }' "$work/result")" -gt 1000 ] && return $status
}
of_mode() { # MODE
	awk -v mode="$1" -v names="$work/kernel.names" '
		BEGIN { while ((getline name < names) > 0) kernel[name] = 1 }
		$5 ~ /^\[/ { next }
		mode == "kernel" { $2 = 0 }
		($5 in kernel) == (mode == "kernel")'
}

# Print the true slices INNER inside of slices OUTER on one thread, by time and depth.
within() { # INNER OUTER
	awk -v inner="$1" -v outer="$2" '
		$5 == inner { inners[++count] = $0 }
		$5 == outer { outers[++outer_count] = $0 }
		END {
			for (i = 1; i <= count; i++)
				for (k = 1; k <= outer_count; k++) {
					split(inners[i], a)
					split(outers[k], b)
					if (a[1] == b[1] && a[2] > b[2] && a[3] >= b[3] && a[4] <= b[4])
						exit 0
				}
			exit 1
		}' "$work/truth.counts"
}

hard_cases() {
	within asm_sysvec_ipi asm_sysvec_timer && within asm_exc_nmi asm_sysvec_ipi &&
		within asm_exc_nmi sys_nmi && within asm_exc_nmi asm_exc_page_fault &&
		within asm_exc_page_fault sys_sum && within asm_exc_double_fault cause_double_fault &&
		within do_syscall_64 entry_SYSCALL_64_after_hwframe &&
		grep -q ' fffffe0000006000$' "$work/truth.branches"
}

no_thunks() {
	! grep -E ' __x86_(return|indirect)' "$work/slices"
}

# The same with code and names from vmlinux, at its recorded address.
vmlinux_agrees() {
	"$program" -q --format=slices --args=line "$recording" >"$work/slices"
	mv "$recording/kcore_dir" "$work/aside"
	we_agree --kernel="$guest/vmlinux" &&
		"$program" -q --format=slices --args=line --kernel="$guest/vmlinux" "$recording" >"$work/slices.vmlinux" &&
		cmp "$work/slices" "$work/slices.vmlinux"
	status=$?
	mv "$work/aside" "$recording/kcore_dir"
	return $status
}

# Calls that share all code. Counts differ by a thread's first code, which no branch of it precedes.
within_counts() {
	"$program" -q --format=bolt --dso='*kernel*' "$recording" | cut -d ' ' -f 1-3 >"$work/all" &&
		"$program" -q --format=bolt --dso='*kernel*' --within='*>0ns' "$recording" | cut -d ' ' -f 1-3 >"$work/within" &&
		diff "$work/all" "$work/within" && [ "$(grep -c ^F "$work/within")" -gt 100 ]
}

all_bytes() {
	"$program" --format=none "$recording" 2>"$work/summary"
	! grep -E 'lost|warning' "$work/summary"
}

check() { # TITLE TOLERANCE OPTIONS...
	title=$1
	tolerance=$2
	shift 2
	tap_check "$title: is recorded" record "$@"
	tap_check "$title: all branches, on their threads" we_agree
	tap_check "$title: the true stacks" true_stacks "$tolerance"
	tap_check "$title: every byte of trace is decoded" all_bytes
}

# One MTC period is 320 ns; with CYC a packet holds six decisions.
check "user and kernel" 700
tap_check "--mode=user: the true stacks of the user's code" true_mode user
tap_check "--mode=kernel: the true stacks of the kernel" true_mode kernel
tap_check "it has an NMI in an interrupt in an interrupt, in a system call and in a page fault; a double fault; and entry trampolines" hard_cases
tap_check "retpolines and return thunks are no slices" no_thunks
tap_check "threads that decode in segments find the same" threads_agree
tap_check "--within counts the kernel's code, which is in no file of symbols" within_counts
tap_check "the kernel's code and names come from vmlinux as well" vmlinux_agrees
if command -v perf >/dev/null; then
	tap_check "perf script finds these branches" perf_agrees
else
	tap_skip "perf script finds these branches" "perf is not installed"
fi
# libipt does not pop its stack at returns that are not compressed.
check "CYC, many PSBs, no RET compression" 400 --cyc --psb-period=512 --no-retcomp
tap_check "no RET compression: all branches, by libipt" we_agree --engine=libipt
if [ -n "$LONG" ]; then
	# The CPU sleeps for 2 us, and counts no cycles: the clock is late by up to an MTC period of 2.6 us.
	tap_check "CYC, few MTCs: is recorded" record --cyc --mtc-period=6
	tap_check "CYC, few MTCs: all branches, on their threads" we_agree
	check "CYC" 400 --cyc
	check "CYC, many PSBs" 400 --cyc --psb-period=512
	check "no RET compression" 700 --no-retcomp
	check "MTC period 0" 300 --mtc-period=0
fi
cat "$work/recorded"
tap_done
