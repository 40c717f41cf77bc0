#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs that write code while ptsim records them. A jitdump has the code and its
# names, a perf-PID.map the names.
. "$top_srcdir/tests/support/tap.sh"
ptsim=$top_builddir/tests/ptsim/ptsim
program=$top_builddir/ptrace2ftf
programs=$top_builddir/tests/programs
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$ptsim" record -o "$work/perf.data" -- "$programs/tail" >/dev/null 2>"$work/messages" ||
	tap_skip_all "programs cannot be traced here: $(cat "$work/messages")"

with_jitdump() {
	"$ptsim" record --as-is -o "$work/perf.data" -- "$programs/jitdump" "$work" >/dev/null || return 1
	"$program" --format=slices "$work/perf.data" >"$work/slices" 2>"$work/messages" ||
		{ cat "$work/messages"; return 1; }
	# Each jit_inner lies in a jit_outer, and those in main.
	awk '$5 == "main" { main = $2 } $5 == "jit_outer" { outer++; bad += $2 != main + 1 }
	     $5 == "jit_inner" { inner++; bad += $2 != main + 2 }
	     END { print outer, inner, bad + 0; exit outer != 20 || inner != 20 || bad }' "$work/slices" || return 1
	# Only jit_outer has a line.
	[ "$(grep -c ' jit_outer loc=made.js:7$' "$work/slices")" -eq 20 ] && ! grep -q ' jit_inner loc=' "$work/slices"
}

# The dump has its code, the saved code is used elsewhere, also in the same page.
with_jitdump_and_saved_code() {
	rm -f "$work"/jit-*.dump
	"$ptsim" record --code --as-is -o "$work/both.data" -- "$programs/jitdump" "$work" both >/dev/null 2>"$work/truth" || return 1
	branches=$(sed -n 's/.* instructions, \([0-9]*\) branches.*/\1/p' "$work/truth")
	"$program" --format=slices "$work/both.data" >"$work/slices" 2>"$work/messages" ||
		{ cat "$work/messages"; return 1; }
	grep -q "$branches branches" "$work/messages" &&
		[ "$(grep -c ' jit_outer' "$work/slices")" -eq 20 ] && [ "$(grep -c ' jit_inner' "$work/slices")" -eq 20 ] &&
		[ "$(grep -cF ' [anon]+0x' "$work/slices")" -ge 40 ]
}

without_its_jitdump() {
	rm "$work"/jit-*.dump
	"$program" -q --format=slices "$work/perf.data" >"$work/slices"
	[ $? -eq 2 ] && ! grep -q jit_outer "$work/slices"
}

# A page of code without a name is shown by its address, and not as a function.
without_a_map() {
	"$ptsim" record -o "$work/perf.data" -- "$programs/jit" >/dev/null || return 1
	"$program" -q --no-warn --perf-map-dir="$work" --format=slices --args=line "$work/perf.data" >"$work/slices"
	awk '$5 ~ /^\[anon\]/ { n++; bad += $5 !~ /^\[anon\]\+0x[0-9a-f]+000$/ || $6 !~ /^address=0x/
		page = substr($5, 8); bad += substr($6, 9, length(page) - 3) != substr(page, 1, length(page) - 3) }
	     END { print n + 0, bad + 0; exit !n || bad }' "$work/slices" || return 1
	"$program" -q --no-warn --perf-map-dir="$work" --unnamed=files --format=slices "$work/perf.data" |
		grep -qF ' [anon] '
}

with_perf_map() {
	"$ptsim" record -o "$work/perf.data" -- "$programs/jit" >/dev/null || return 1
	pid=$("$program" -q --no-warn --format=slices "$work/perf.data" | sed 's|/.*||;q')
	page=$("$program" -q --no-warn --format=branches "$work/perf.data" |
		sed -n 's/.* call  *[0-9a-f]* main+0x[0-9a-f]* => *\([0-9a-f]*\) \[anon\].*/\1/p' | head -n 1)
	printf '%s 4 jit_first\nnonsense\n0x%s 4 jit code (second)\n' "$page" "$page" >"$work/perf-$pid.map"
	"$program" -q --no-warn --perf-map-dir="$work" --format=slices "$work/perf.data" >"$work/slices"
	grep -c ' jit code (second) ' "$work/slices"
	grep -q ' jit code (second) ' "$work/slices" && ! grep -q jit_first "$work/slices"
}

# Code in a file of another format: its bytes at the mapping's offset, named by a perf map.
with_a_file_that_is_not_elf() {
	{ head -c 4096 /dev/zero && printf '\215\107\001\303\215\107\002\303' && head -c 5000 /dev/zero; } >"$work/lib.dll"
	"$ptsim" record -o "$work/mapped.data" -- "$programs/mapped" "$work/lib.dll" 4096 0 4 >"$work/output" 2>"$work/truth" || return 1
	branches=$(sed -n 's/.* instructions, \([0-9]*\) branches.*/\1/p' "$work/truth")
	pid=$("$program" -q --no-warn --format=slices "$work/mapped.data" | sed 's|/.*||;q')
	printf '%s 4 first\n' "$(sed 's/ .*//' "$work/output")" >"$work/perf-$pid.map"
	"$program" --perf-map-dir="$work" --format=slices "$work/mapped.data" >"$work/slices" 2>"$work/messages" ||
		{ cat "$work/messages"; return 1; }
	rm "$work/perf-$pid.map"
	grep -q "$branches branches" "$work/messages" && [ "$(grep -c ' first' "$work/slices")" -eq 20 ] &&
		[ "$(grep -cF ' [lib.dll]+0x' "$work/slices")" -eq 20 ] || return 1
	# A recording may name any file of the user: its bytes are not shown.
	head -c 9000 /dev/zero | tr '\0' '\6' >"$work/lib.dll"
	"$program" --format=slices "$work/mapped.data" >"$work/slices" 2>"$work/messages"
	[ $? -eq 2 ] && ! grep -q '06 06' "$work/messages"
}

# A program changes its code: the page that it made executable again has the new code.
with_changed_code() {
	"$ptsim" record --code -o "$work/patched.data" -- "$programs/patched" >/dev/null 2>"$work/truth" || return 1
	branches=$(sed -n 's/.* instructions, \([0-9]*\) branches.*/\1/p' "$work/truth")
	for engine in fast libipt; do
		"$program" --engine=$engine --format=slices "$work/patched.data" >"$work/slices" 2>"$work/messages" ||
			{ cat "$work/messages"; return 1; }
		grep -q "$branches branches" "$work/messages" && [ "$(grep -c ' patched' "$work/slices")" -eq 30 ] &&
			[ "$(grep -c ' hook' "$work/slices")" -eq 20 ] || return 1
	done
	rm "$work/patched.data.code"
	"$program" -q --format=slices "$work/patched.data" >"$work/slices" 2>&1
	! grep -q ' hook' "$work/slices"
}

le() { # SIZE VALUE: little-endian bytes
	left=$1 value=$2
	while [ "$left" -gt 0 ]; do
		printf "\\$(printf %03o $((value & 255)))"
		value=$((value >> 8)) left=$((left - 1))
	done
}

# A .dll exports a function ("PE Format"), whose name in a perf map has priority.
with_exports() {
	head -c 4096 /dev/zero >"$work/export.dll"
	for part in '0 2 23117' '60 4 128' '128 4 17744' '134 2 1' '148 2 240' '152 2 523' '260 4 16' '264 4 6144' '268 4 256' \
		'404 4 4096' '408 4 3072' '412 4 1024' '428 4 1610612768' \
		'3096 4 1' '3100 4 6208' '3104 4 6224' '3108 4 6240' '3136 4 4112' '3152 4 6256' '3184 4 1802661751' '1040 4 3271640973'; do
		le ${part#* } | dd of="$work/export.dll" bs=1 seek="${part%% *}" conv=notrunc 2>/dev/null
	done
	"$ptsim" record -o "$work/export.data" -- "$programs/mapped" "$work/export.dll" 0 1040 >"$work/output" 2>"$work/truth" || return 1
	"$program" --format=slices "$work/export.data" >"$work/slices" 2>"$work/messages" || { cat "$work/messages"; return 1; }
	[ "$(awk '$5 == "work"' "$work/slices" | wc -l)" -eq 20 ] || return 1
	page=$(sed -n 's/ .*//p' "$work/output")
	printf '%x 4 compiled\n' $(($page + 1040)) >"$work/perf-$(sed 's|/.*||;q' "$work/slices").map"
	"$program" -q --perf-map-dir="$work" --format=slices "$work/export.data" >"$work/slices" &&
		[ "$(awk '$5 == "compiled"' "$work/slices" | wc -l)" -eq 20 ] && ! grep ' work ' "$work/slices"
}

# Append a stored file, whose content begins at an offset, to an archive (PKWARE's APPNOTE.TXT).
add_to_archive() { # NAME FILE OFFSET
	size=$(wc -c <"$2") begin=$(wc -c <"$work/base.apk")
	fill=$(($3 - begin - 30 - ${#1}))
	{
		le 4 $((0x04034b50)) && le 14 0 && le 4 "$size" && le 4 "$size" && le 2 ${#1} && le 2 $fill
		printf %s "$1" && head -c $fill /dev/zero && cat "$2"
	} >>"$work/base.apk"
	{
		le 4 $((0x02014b50)) && le 16 0 && le 4 "$size" && le 4 "$size" && le 2 ${#1} && le 12 0 && le 4 "$begin" && printf %s "$1"
	} >>"$work/directory"
}

# Append a file whose sizes are in the extra field (4.5.3), as those of more than 4 GiB are.
add_zip64_file() {
	begin=$(wc -c <"$work/base.apk")
	{
		le 4 $((0x04034b50)) && le 14 0 && le 8 -1 && le 2 4 && le 2 20 && printf huge
		le 2 1 && le 2 16 && le 8 4 && le 8 4 && printf data
	} >>"$work/base.apk"
	{
		le 4 $((0x02014b50)) && le 16 0 && le 8 -1 && le 2 4 && le 2 20 && le 10 0 && le 4 "$begin" && printf huge
		le 2 1 && le 2 16 && le 8 4 && le 8 4
	} >>"$work/directory"
}

# Map a page in the middle of a file in the archive. Of programs this small, addresses of code are offsets in the file.
calls_in_archive() { # FILE FUNCTION OFFSET
	at=$(nm "$1" | sed -n "s/ [Tt] $2\$//p")
	at=$(printf '%d' "0x$at") page=$((at / 4096 * 4096))
	"$ptsim" record -o "$work/apk.data" -- "$programs/mapped" "$work/base.apk" $(($3 + page)) $((at - page)) >/dev/null 2>"$work/truth" || return 1
	branches=$(sed -n 's/.* instructions, \([0-9]*\) branches.*/\1/p' "$work/truth")
	"$program" --format=slices "$work/apk.data" >"$work/slices" 2>"$work/messages" ||
		{ cat "$work/messages"; return 1; }
	grep -q "$branches branches" "$work/messages" && [ "$(grep -c " $2 loc=.*patched.c:" "$work/slices")" -eq 20 ]
}

# Libraries are at multiples of the size of a page: of 4 KiB, or of 16 KiB since Android 15.
with_files_in_an_archive() {
	: >"$work/base.apk" && : >"$work/directory"
	objcopy --redefine-sym hook=second_hook "$programs/patched" "$work/second" || return 1
	add_to_archive lib/first.so "$programs/patched" 4096
	add_zip64_file
	second=$((($(wc -c <"$work/base.apk") / 16384 + 2) * 16384))
	add_to_archive lib/second.so "$work/second" $second
	{
		cat "$work/directory" && le 4 $((0x06054b50)) && le 8 0 && le 4 "$(wc -c <"$work/directory")"
		le 4 "$(wc -c <"$work/base.apk")" && le 2 0
	} >"$work/end" && cat "$work/end" >>"$work/base.apk"
	calls_in_archive "$programs/patched" hook 4096 && calls_in_archive "$work/second" second_hook $second
}

# All branches of the program are found with the file beside the recording, or a file that is named;
# another process's file is not used.
with_saved_code() {
	"$ptsim" record --code --quantum=500 -o "$work/perf.data" -- "$programs/jit" >/dev/null 2>"$work/truth" || return 1
	branches=$(sed -n 's/.* instructions, \([0-9]*\) branches.*/\1/p' "$work/truth")
	# The program's perf map is in the file, unless the user names another folder. Its last names win.
	"$program" -q --format=slices "$work/perf.data" >"$work/beside" || return 1
	[ "$(grep -c ' jit_second' "$work/beside")" -eq 100 ] || return 1
	maps=--perf-map-dir=$work
	"$program" -q $maps --format=slices "$work/perf.data" >"$work/beside" || return 1
	mv "$work/perf.data.code" "$work/core"
	"$program" -q --format=slices "$work/perf.data" >"$work/without"
	[ $? -eq 2 ] || return 1
	"$program" $maps --core="$work/core" --format=slices "$work/perf.data" >"$work/named" 2>"$work/messages" || return 1
	grep -q "$branches branches" "$work/messages" && grep -q "as it was last saved; 1 function may.*, the first is \[anon\]+0x" "$work/messages" && cmp "$work/beside" "$work/named" &&
		[ "$(grep -c '\[anon\]' "$work/named")" -eq 100 ] || return 1
	# After half of the calls, the program rewrites the code and makes it executable again.
	first=$(sed -n 's/.*, the first is //p' "$work/messages")
	[ "$(grep code_changed "$work/named" | cut -d ' ' -f 5 | sort -u)" = "$first" ] || return 1
	[ "$(grep '\[anon\]' "$work/named" | sed 's/.* code_changed=true.*/changed/; s/.*\[anon.*/saved/' | uniq -c | tr -s ' \n' ' ')" = ' 50 changed 50 saved ' ] || return 1
	# As if memory that is writable and executable had changed: the flag of its segment.
	LC_ALL=C sed 's/\x01\x00\x00\x00\x05\x00\x00\x00/\x01\x00\x00\x00\x05\x00\x10\x00/g' "$work/core" >"$work/flagged"
	"$program" -q $maps --core="$work/flagged" --format=slices "$work/perf.data" |
		grep '\[anon\]' | grep -c ' code_changed=true' | grep -qx 100 || return 1
	# As gcore writes it, without the size of a recording.
	LC_ALL=C sed 's/ptrace2ftf/ptrace2ftX/' "$work/core" >"$work/plain"
	"$ptsim" record -o "$work/perf.data" -- "$programs/jit" >/dev/null
	"$program" --core="$work/plain" --format=slices "$work/perf.data" >"$work/others" 2>"$work/messages"
	[ $? -eq 2 ] && grep -q 'no code of the recording' "$work/messages"
}
# Segments of saved code end within instructions; parts that changed are not one with the others.
across_segments() {
	"$ptsim" record --code --map-pages -o "$work/perf.data" -- "$programs/jit_large" >"$work/output" 2>"$work/truth" || return 1
	branches=$(sed -n 's/.* instructions, \([0-9]*\) branches.*/\1/p' "$work/truth")
	LC_ALL=C sed '0,/\x01\x00\x00\x00\x05\x00\x00\x00/s//\x01\x00\x00\x00\x05\x00\x10\x00/' "$work/perf.data.code" >"$work/flagged"
	for code in perf.data.code flagged; do
		"$program" --verify --core="$work/$code" -f none "$work/perf.data" 2>"$work/messages"
		cat "$work/messages"
		grep -q "$branches branches" "$work/messages" && grep -q ' 0 differ' "$work/messages" || return 1
	done
	rm "$work/perf.data.code"
}

# perf record replaces the recording, and leaves the file beside it.
with_stale_code() {
	"$ptsim" record --code -o "$work/perf.data" -- "$programs/jit" >/dev/null || return 1
	mv "$work/perf.data.code" "$work/code"
	"$ptsim" record --interrupts=50 -o "$work/perf.data" -- "$programs/jit" >/dev/null
	mv "$work/code" "$work/perf.data.code"
	"$program" --format=slices "$work/perf.data" >"$work/slices" 2>"$work/messages"
	status=$?
	# perf inject changes the size of the recording; who names the file knows what it is.
	"$program" --core="$work/perf.data.code" --format=slices "$work/perf.data" 2>&1 |
		grep 'perf.data.code is ignored' && return 1
	rm "$work/perf.data.code"
	[ $status -eq 2 ] && grep -q 'perf.data.code is ignored: it belongs to a recording of [0-9]* bytes' "$work/messages"
}

tap_check "a jitdump gives code and names" with_jitdump
tap_check "a jitdump and saved code are used together" with_jitdump_and_saved_code
tap_check "without the jitdump its code is a gap" without_its_jitdump
tap_check "code in a file that is not ELF is decoded, and named by a perf-PID.map" with_a_file_that_is_not_elf
tap_check "a .dll has the names of its exports, unless a map has others" with_exports
tap_check "each file in an archive has its names and lines" with_files_in_an_archive
tap_check "a program's changes of its own code are saved, and decoded from then on" with_changed_code
tap_check "code that was saved at the end is decoded" with_saved_code
tap_check "saved code is decoded across the ends of its segments" across_segments
tap_check "code of another recording is left out, and a warning says so" with_stale_code
tap_check "without a map, code has the address of its page as name" without_a_map
tap_check "a perf-PID.map gives names, the last line's where two overlap" with_perf_map
tap_done
