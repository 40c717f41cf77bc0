#!/bin/sh
# SPDX-License-Identifier: MIT
# Bad inputs, and outputs that cannot be written: one clear line, the right status, and no
# remaining output.
. "$top_srcdir/tests/support/tap.sh"
program=$top_builddir/ptrace2ftf
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/sample" "$work/empty-directory" "$work/out"
"$top_builddir/tests/support/make-sample" "$work/sample"
sample=$work/sample/perf.data
options="--symfs=$work/sample"

# One line on stderr that matches, status 1, and nothing in the output directory.
fails() { # PATTERN OPTIONS...
	pattern=$1
	shift
	"$program" "$@" -o "$work/out/trace.ftf" 2>"$work/messages" >"$work/stdout"
	status=$?
	[ $status -eq 1 ] || { echo "status $status"; cat "$work/messages"; return 1; }
	[ "$(grep -c . "$work/messages")" -eq 1 ] || { cat "$work/messages"; return 1; }
	grep -q "$pattern" "$work/messages" || { cat "$work/messages"; return 1; }
	[ -z "$(ls -A "$work/out")" ] || { ls -A "$work/out"; return 1; }
	[ ! -s "$work/stdout" ]
}

echo "hello, this is no recording, but it is longer than a header of perf.data would be: $(seq 50)" >"$work/text"
: >"$work/empty"
printf '2ELIFREP\0\0\0\0\0\0\0\150' >"$work/big-endian"
head -c 60 "$sample" >"$work/header-cut"

tap_check "a text file is refused by name" fails "text: is not a perf.data file, but text; if perf script printed it" $options "$work/text"
printf '\020\0\004FxT\026\0' >"$work/trace"
tap_check "a trace is refused, and the command for it named" \
	fails 'is not a perf.data file, but a Fuchsia trace; show it with .ptrace2ftf open' $options "$work/trace"
printf '\037\213\010\0' >"$work/packed"
tap_check "the begin of a compressed file is refused" fails 'packed: cannot unpack: its end is missing' $options "$work/packed"
echo text | gzip >"$work/packed-text"
tap_check "a compressed file of another kind is refused" fails 'packed-text: is not a perf.data file' $options "$work/packed-text"
packed_pipe() { # PROGRAM
	command -v "$1" >/dev/null || { tap_skip "a recording packed by $1 from a pipe" "no $1"; return; }
	piped() {
		"$program" -q --no-warn --format=branches "$sample" >"$work/whole" &&
			"$1" -c <"$sample" | "$program" -q --no-warn --format=branches - >"$work/piped" &&
			cmp "$work/whole" "$work/piped"
	}
	tap_check "a recording packed by $1 is read from a pipe" piped "$1"
}
packed_pipe gzip
packed_pipe zstd

# perf's file, and its folder, belong to root if sudo made them.
of_root() { # FILE
	setpriv --reuid=65534 --clear-groups "$program" --format=none "$1" >"$work/stdout" 2>"$work/messages"
	[ $? -eq 1 ] && grep -q "$1: cannot open: Permission denied; make it yours .*sudo chown -R" "$work/messages"
}
chmod 755 "$work"
cp "$sample" "$work/roots" && chmod 600 "$work/roots"
mkdir -m 700 "$work/roots-folder" && cp "$sample" "$work/roots-folder/data"
if [ "$(id -u)" -eq 0 ] && setpriv --reuid=65534 --clear-groups "$program" --version >/dev/null 2>&1; then
	tap_check "a recording of root is refused with the remedy" of_root "$work/roots"
	tap_check "so is a folder of root" of_root "$work/roots-folder"
else
	tap_skip "recordings of root" "not root, or no setpriv"
fi
printf '\001\002\003' >"$work/bytes"
tap_check "other bytes are refused by name" fails 'bytes: is not a perf.data file$' $options "$work/bytes"
tap_check "an empty file is refused" fails "empty: is empty; record again" $options "$work/empty"
missing_folder() {
	"$program" "$work/no/perf.data" >"$work/stdout" 2>"$work/messages"
	[ $? -eq 1 ] && [ "$(cat "$work/messages")" = "ptrace2ftf: $work/no/perf.data: cannot open: No such file or directory" ] ||
		{ cat "$work/messages"; return 1; }
}
tap_check "a missing folder of the input is not blamed on the output" missing_folder
tap_check "a missing file is refused" fails "nothing: cannot open: No such file" $options "$work/nothing"
nothing_on_standard_input() {
	: | fails "standard input: is empty" $options -
}
tap_check "standard input without a recording is refused" nothing_on_standard_input
tap_check "a directory without a recording is refused" fails "empty-directory: is a directory" $options "$work/empty-directory"
tap_check "a big-endian recording is refused" fails "big-endian" $options "$work/big-endian"
tap_check "a cut header is refused with its offset" fails "header-cut: .*damaged header" $options "$work/header-cut"

# An event of another kind: the sample without its AUXTRACE_INFO (type 70 becomes FINISHED_ROUND).
without_pt() {
	offset=$(LC_ALL=C grep -obUaP '\x46\x00\x00\x00\x00\x00' "$sample" | head -1 | cut -d: -f1)
	cp "$sample" "$work/no-pt"
	printf '\104' | dd of="$work/no-pt" bs=1 seek="$offset" conv=notrunc 2>/dev/null
	fails "no-pt: .*no Intel PT" $options "$work/no-pt"
}
tap_check "a recording without Intel PT is refused with how to record" without_pt

if [ "$(id -u)" = 0 ]; then
	tap_skip "an unreadable file is refused" "root reads everything"
else
	cp "$sample" "$work/unreadable"
	chmod 0 "$work/unreadable"
	tap_check "an unreadable file is refused" fails "unreadable: cannot open: Permission" "$work/unreadable"
fi

writes_not() { # PATTERN OUTPUT FORMAT
	"$program" -q $options --format="$3" "$sample" -o "$2" 2>"$work/messages"
	[ $? -eq 1 ] && [ "$(grep -c . "$work/messages")" -eq 1 ] && grep -q "$1" "$work/messages" && return 0
	cat "$work/messages"
	return 1
}
# A command that only prints: status 1 and one line.
prints_not() {
	for command in --help --help=all --version help 'help why' 'clock-sync' 'help --help'; do
		"$program" $command >/dev/full 2>"$work/messages"
		[ $? -eq 1 ] && [ "$(cat "$work/messages")" = \
			"ptrace2ftf: standard output: cannot write: No space left on device" ] ||
			{ echo "$command"; cat "$work/messages"; return 1; }
	done
	"$program" $options -q -f functions "$sample" >/dev/full 2>"$work/messages"
	[ $? -eq 1 ] && grep -q '^ptrace2ftf: standard output: cannot write: No space' "$work/messages"
}
if [ -c /dev/full ]; then
	tap_check "standard output that takes nothing is an error" prints_not
	tap_check "a full disk is an error" writes_not "No space left" /dev/full ftf
	tap_check "a full disk is an error for text too" writes_not "No space left" /dev/full slices
fi
tap_check "a directory that is not there is an error" writes_not "No such file" "$work/none/x.ftf" ftf

# Each path of an option. The error comes before anything is read, so INPUT need not exist.
: >"$work/file"
paths_are_checked() {
	for option in --symfs --vdso --kernel --debug-dir --perf-map-dir --clock-sync; do
		fails "cannot read $option=$work/nowhere: No such file" $option="$work/nowhere" "$work/text" || return 1
	done
	for option in --symfs --debug-dir --perf-map-dir; do
		fails "cannot read $option=$work/file: Not a directory" $option="$work/file" "$work/text" || return 1
	done
	for option in --vdso; do
		fails "cannot read $option=$work: Is a directory" $option="$work" "$work/text" || return 1
	done
	for option in --memtrace --runtime-events; do
		fails "nowhere: .*No such file" $options $option="$work/nowhere" "$sample" || return 1
	done
}
tap_check "a path of an option that is not there is an error" paths_are_checked
json_is_checked() {
	fails "cannot write to $work/none/x: No such file" --json="$work/none/x" "$work/text" &&
		fails "cannot write to $work: Is a directory" --json="$work" "$work/text" &&
		fails "cannot write to $work/file/x: Not a directory" --json="$work/file/x" "$work/text" &&
		cp "$sample" "$work/copy" &&
		fails "cannot write to $work/copy: it is the input" $options --json="$work/copy" "$work/copy" &&
		cmp "$sample" "$work/copy"
}
tap_check "a place of --json where nothing can be written is an error" json_is_checked
# The input is another user's, and no file may be made beside it. Other users may have no access to
# the build.
closed_folder() {
	mkdir "$work/closed" && cp "$sample" "$work/closed" && cp "$program" "$work/program" &&
		chmod 755 "$work" "$work/program" && chmod 555 "$work/closed"
	# shellcheck disable=SC2086 # words
	(cd "$work" && $other_user ./program closed/perf.data 2>messages)
	[ $? -eq 1 ] && grep -q 'cannot write to closed/perf.ftf: Permission denied; choose another place with -o' "$work/messages" ||
		{ cat "$work/messages"; return 1; }
}
other_user=
[ "$(id -u)" != 0 ] || other_user="setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all"
# shellcheck disable=SC2086 # words
if $other_user true 2>/dev/null; then
	tap_check "a place beside the input where nothing can be written is named with -o" closed_folder
else
	tap_skip "a place beside the input where nothing can be written" "cannot become another user"
fi
batches_check_once() {
	for option in --symfs="$work/nowhere" --json-lines="$work/none/x"; do
		"$program" -q "$option" "$sample" "$sample" --output="$work/out/{n}.ftf" 2>"$work/messages"
		[ $? -eq 1 ] && [ "$(grep -c . "$work/messages")" -eq 1 ] && grep -q "No such file" "$work/messages" || return 1
		[ -z "$(ls -A "$work/out")" ] || return 1
	done
}
tap_check "a batch reports a path that is not there once" batches_check_once

leaves_the_old_file() {
	echo old >"$work/out/trace.ftf"
	"$program" -q $options "$work/text" -o "$work/out/trace.ftf" 2>/dev/null
	[ "$(cat "$work/out/trace.ftf")" = old ] && [ "$(ls -A "$work/out")" = trace.ftf ]
}
tap_check "a failure leaves an older output as it was" leaves_the_old_file
rm -f "$work/out/trace.ftf"

closed_stdout() { # OPTIONS...
	"$program" $options "$sample" "$@" >&- 2>"$work/messages"
	[ $? -eq 1 ] && grep -q 'standard output' "$work/messages"
}
tap_check "a closed standard output is an error" closed_stdout --format=slices
tap_check "also if nothing would be printed" closed_stdout --format=slices --tid=1
closed_others() {
	"$program" -q $options "$sample" -o "$work/out/x.ftf" <&- >&- 2>&- && "$top_builddir/ftfdump" --check "$work/out/x.ftf"
	status=$?
	rm -f "$work/out"/*
	return $status
}
tap_check "closed streams that are not needed cost nothing" closed_others

# ---- Inputs without end ----
tap_check "a text of one endless line is refused" fails "more than 16 MiB" -q --input=perf-script /dev/zero
tap_check "so is one of endless other lines" fails "are not output of perf script" -q --input=perf-script /dev/urandom
blank_text() {
	yes '' | "$program" -q --input=perf-script --format=slices - 2>"$work/messages"
	[ $? -eq 1 ] && grep -q "the last 100000 lines up to line 100000 are not output" "$work/messages"
}
tap_check "or of blank ones" blank_text
endless_clocks() {
	printf '0 1000 begin 0 0\n0 2000 end 0 0\n' | "$top_builddir/tests/support/make-ring" 1 1024 "$work/1234.events"
	fails "zero: more than 10000 lines" -q --clock-sync=/dev/zero --runtime-events="$work/1234.events"
}
tap_check "clocks without end are refused" endless_clocks

usage() { # PATTERN OPTIONS...
	pattern=$1
	shift
	"$program" "$@" 2>"$work/messages" >"$work/stdout"
	[ $? -eq 64 ] && grep -q "$pattern" "$work/messages" && [ ! -s "$work/stdout" ]
}
tap_check "no input is wrong usage" usage "no input"
tap_check "two texts are wrong usage" usage "cannot combine several texts" --input=perf-script a b
tap_check "an unknown option is wrong usage" usage "unrecognized option" --nonsense a
tap_check "an unknown format is wrong usage, and the known ones are named" usage "ftf, branches, calls" --format=x a

# Every prefix of a recording ends in 0, 1 or 2, and what is written is sound.
sweep() {
	size=$(wc -c <"$sample")
	cut=0
	while [ $cut -lt "$size" ]; do
		head -c $cut "$sample" >"$work/cut"
		"$program" -q $options "$work/cut" -o "$work/out/cut.ftf" 2>/dev/null
		status=$?
		if [ $status -gt 2 ]; then
			echo "$cut bytes: status $status"
			return 1
		fi
		if [ $status -ne 1 ]; then
			"$top_builddir/ftfdump" --check "$work/out/cut.ftf" >/dev/null ||
				{ echo "$cut bytes: unsound"; return 1; }
		fi
		cut=$((cut + 7))
	done
}
tap_check "every prefix of a recording ends in 0, 1 or 2 with a sound trace" sweep

# The end of the features is cut off, but no trace is lost.
cut_features() {
	head -c $(($(wc -c <"$sample") - 8)) "$sample" >"$work/cut"
	"$program" $options --format=branches "$work/cut" -o "$work/branches" 2>"$work/messages"
	[ $? -eq 2 ] && [ "$(wc -l <"$work/branches")" -eq 22 ] && grep -q "feature section" "$work/messages"
}
tap_check "a damaged feature section costs itself and a warning" cut_features
tap_done
