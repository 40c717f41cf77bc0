#!/bin/sh
# SPDX-License-Identifier: MIT
# Limits of the system itself, without a shim: file descriptors, a full file system, an
# unreadable disk. A failure prints the reason and leaves no output. The test mounts in a
# private mount namespace.
[ -n "$OWN_MOUNTS" ] || ! unshare -m true 2>/dev/null || OWN_MOUNTS=yes exec unshare -m sh "$0"
. "$top_srcdir/tests/support/tap.sh"
program=$top_builddir/ptrace2ftf
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/sample" "$work/out" "$work/disk" "$work/content"
"$top_builddir/tests/support/make-sample" "$work/sample"
symfs=--symfs=$work/sample
data=$work/sample/perf.data

# With too few, the dynamic linker cannot load the libraries: status 127. The file of --json-lines holds a
# descriptor, as a conversion needs no more of them than the linker.
lines=--json-lines=$work/lines
few_descriptors() { # OPTIONS... OUTPUT-SUFFIX
	suffix=$1
	shift
	: >"$work/statuses"
	for count in $(seq 3 30); do
		prlimit --nofile="$count" "$program" -q $symfs "$lines" "$@" -o "$work/out/x.$suffix" </dev/null \
			2>"$work/messages"
		status=$?
		echo $status >>"$work/statuses"
		case $status in
		0) "$top_builddir/ftfdump" --check "$work/out/x.$suffix" >/dev/null || return 1
			rm "$work/out/x.$suffix" ;;
		1 | 2 | 127)
			[ -s "$work/messages" ] || [ $status = 2 ] || { echo "$count: no reason"; return 1; }
			[ $status = 2 ] || [ -z "$(ls -A "$work/out")" ] || { ls "$work/out"; return 1; }
			rm -f "$work/out"/* ;;
		*) echo "$count descriptors: status $status"; cat "$work/messages"; return 1 ;;
		esac
	done
	# Some numbers were too low, and the last one was high enough.
	grep -qx 1 "$work/statuses" && grep -qx 0 "$work/statuses"
}
[ "$P2F_SANITIZED" = yes ] || ! command -v prlimit >/dev/null || {
	tap_check "few file descriptors are an error with a reason" few_descriptors ftf "$data"
	tap_check "few file descriptors are one with compressed output" few_descriptors ftf.gz "$data"
	tap_check "few file descriptors are one with a temporary file" few_descriptors ftf --min-duration=1ns "$data"
}
# Some descriptors are open already, such as make's, so the least number is unknown.
names_the_cause() {
	for count in $(seq 4 20); do
		prlimit --nofile="$count" "$program" -q $symfs "$lines" "$data" -o "$work/out/x.ftf" </dev/null \
			2>"$work/messages"
		[ $? -eq 1 ] && grep -q 'Too many open files' "$work/messages" && return
	done
	cat "$work/messages"
	return 1
}
[ "$P2F_SANITIZED" = yes ] || ! command -v prlimit >/dev/null ||
	tap_check "the reason is that there are too many open files" names_the_cause

# The environment takes its part of the stack, so there is none.
little_stack() { # -s, both limits, or -Ss, the one that the program may raise
	"$program" -q $symfs --format=slices "$data" -o "$work/usual"
	for kibibytes in 32 64 128 256 512 1000 1024 2048; do
		env -i sh -c 'ulimit "$1" "$2" && shift 2 && exec "$@"' sh "$1" $kibibytes \
			"$program" -q $symfs --format=slices "$data" -o "$work/out/x" 2>"$work/messages"
		status=$?
		if [ "$1" = -Ss ] || [ $kibibytes -ge 1024 ]; then
			[ $status -eq 0 ] && cmp "$work/usual" "$work/out/x"
		else
			[ $status -eq 1 ] && [ "$(wc -l <"$work/messages")" -eq 1 ] && [ -z "$(ls -A "$work/out")" ] &&
				grep -q "cannot convert with a stack of $kibibytes KiB: .*; raise the limit with .ulimit -s" "$work/messages"
		fi || { echo "$kibibytes KiB: status $status"; cat "$work/messages"; return 1; }
		rm -f "$work/out"/*
	done
}
# A real line table, which the sample lacks.
stack_for_lines() {
	symfs=--symfs=$shared/symfs data=$shared/loopy/perf.data
	little_stack -Ss
}
[ "$P2F_SANITIZED" = yes ] || {
	tap_check "little stack is an error with what to do" little_stack -s
	tap_check "if it may be raised, it is" little_stack -Ss
	shared=$top_srcdir/../shared/recordings/hase-2018-04
	[ ! -e "$shared/loopy/perf.data" ] || tap_check "also for the lines of a program" stack_for_lines
}

# ---- Mounts ----
"$top_builddir/tests/scale/make-scale" pieces 20000 "$work/large"
mounted() { # NAME COMMAND...
	tap_check "$@"
	umount "$work/disk" 2>/dev/null
	rm -rf "$work/out"/*
}
small_disk() { # OPTIONS
	mount -t tmpfs -o "$1" none "$work/disk"
}
refused() { # REASON OUTPUT: after the program has ended with $status
	[ $status -eq 1 ] && grep -q "$1" "$work/messages" && [ ! -e "$2" ] && [ -z "$(ls -A "$work/out")" ] ||
		{ echo "status $status"; cat "$work/messages"; return 1; }
}
full_output() { # SUFFIX
	small_disk size=64k || return 1
	# The default of --max-output would end the output at a quarter of the disk.
	"$program" -q --max-output=1GB $symfs "$work/large" -o "$work/disk/x.$1" 2>"$work/messages"
	status=$?
	refused "disk/x.$1: .*No space left on device" "$work/disk/x.$1" && [ -z "$(ls -A "$work/disk")" ]
}
full_temporary() {
	small_disk size=64k || return 1
	# shellcheck disable=SC2002 # a pipe is what is tested
	cat "$work/large" | TMPDIR=$work/disk "$program" -q $symfs - -o "$work/out/x.ftf" 2>"$work/messages"
	status=$?
	refused "$work/disk: cannot write a temporary file: No space left on device" "$work/out/x.ftf"
}
no_room_for_a_file() {
	small_disk nr_inodes=1 || return 1
	"$program" -q $symfs "$data" -o "$work/disk/x.ftf" 2>"$work/messages"
	status=$?
	refused "No space left on device" "$work/disk/x.ftf"
}
read_only() {
	small_disk ro || return 1
	"$program" -q $symfs "$data" -o "$work/disk/x.ftf" 2>"$work/messages"
	status=$?
	refused "Read-only file system" "$work/disk/x.ftf"
}

# The disk is a file that is truncated: reads fail with EIO, accesses to mapped pages with SIGBUS.
bad_disk() { # FILE NAME-ON-IT
	rm -rf "$work/content"/* "$work/image"
	cp "$1" "$work/content/$2"
	mkfs.ext4 -q -O ^has_journal -d "$work/content" "$work/image" 8M >/dev/null 2>&1 &&
		mount -o loop,ro "$work/image" "$work/disk" && truncate -s 2M "$work/image" || return 1
	! cat "$work/disk/$2" >/dev/null 2>&1 || { echo "the disk can be read"; return 1; }
}
bad_recording() { # OPTIONS...
	bad_disk "$work/large" perf.data || return 1
	"$program" -q $symfs "$@" "$work/disk/perf.data" -o "$work/out/x.ftf" 2>"$work/messages"
	status=$?
	refused "disk/perf.data: .*cannot be read" "$work/out/x.ftf"
}
bad_pipe() {
	bad_disk "$work/large" perf.data || return 1
	"$program" -q $symfs - -o "$work/out/x.ftf" <"$work/disk/perf.data" 2>"$work/messages"
	status=$?
	refused "cannot be read" "$work/out/x.ftf"
}
bad_code() {
	"$top_builddir/tests/scale/make-scale" symbols 150000 "$work/many"
	bad_disk "$work/many" sample || return 1
	"$program" -q --symfs="$work/disk" "$data" -o "$work/out/x.ftf" 2>"$work/messages"
	status=$?
	[ $status -eq 1 ] || { "$top_builddir/ftfdump" --check "$work/out/x.ftf" >/dev/null; return; }
	refused "disk/sample: .*cannot be read" "$work/out/x.ftf"
}
bad_text() {
	yes 'sample 1234/1234 1000.0:  call 401000 main+0x0 => 401020 work+0x0' | head -c 5000000 >"$work/text"
	bad_disk "$work/text" text || return 1
	"$program" -q --input=perf-script "$work/disk/text" -o "$work/out/x.ftf" 2>"$work/messages"
	status=$?
	refused "Input/output error" "$work/out/x.ftf"
}
if [ -n "$OWN_MOUNTS" ] && small_disk size=64k 2>/dev/null; then
	umount "$work/disk"
	mounted "a full file system is an error" full_output ftf
	mounted "a full file system is one for compressed output" full_output ftf.gz
	mounted "a full file system is one for temporary files" full_temporary
	mounted "no room for another file is an error" no_room_for_a_file
	mounted "a file system that is read only is an error" read_only
else
	tap_skip "full file systems" "none can be mounted here"
fi
if [ -n "$OWN_MOUNTS" ] && bad_disk "$work/large" perf.data >/dev/null 2>&1; then
	umount "$work/disk"
	mounted "a recording that cannot be read in mid-file is an error" bad_recording
	mounted "a recording that cannot be read is one under threads, too" bad_recording --threads=4
	mounted "standard input that cannot be read is an error" bad_pipe
	mounted "code that cannot be read is a gap or an error" bad_code
	mounted "text that cannot be read in mid-file is an error" bad_text
else
	tap_skip "disks that cannot be read" "no file can be mounted as a disk here"
fi
tap_done
