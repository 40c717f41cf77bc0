#!/bin/sh
# SPDX-License-Identifier: MIT
# A recording of unknown origin: its names do not move a terminal's cursor, no file
# outside of --symfs is opened, and no file but the named output is overwritten.
. "$top_srcdir/tests/support/tap.sh"
program=$top_builddir/ptrace2ftf
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/sample" "$work/out"
"$top_builddir/tests/support/make-sample" "$work/sample"
sample=$work/sample/perf.data
escape=$(printf '\033')

# Replace bytes by others of the same length.
with() { # OLD NEW FILE: NEW may have escapes of printf
	LC_ALL=C sed "s|$1|$(printf "$2")|g" "$sample" >"$3"
}

# ---- Terminals ----
on_a_terminal() { # COMMAND: what script(1)'s terminal shows
	script -qec "$1" /dev/null </dev/null
}
# "sample" is the thread's name and the file's; main is the function's.
hostile_symbols() {
	mkdir -p "$work/evil"
	LC_ALL=C sed "s/leaf/$(printf '\033[2J')/; s/work/$(printf '\302\233H\007')/" \
		"$work/sample/sample" >"$work/evil/sample"
}
quiet_terminal() { # FORMAT
	hostile_symbols
	on_a_terminal "$program --symfs=$work/evil --format=$1 $sample" >"$work/shown"
	# Slices have their own way to show controls.
	grep -q '?\[2J' "$work/shown" || grep -qF '\x1b[2J' "$work/shown" || { od -c "$work/shown" | head; return 1; }
	! LC_ALL=C grep -q "$escape" "$work/shown" && ! LC_ALL=C grep -q "$(printf '\302\233')" "$work/shown"
}
if ! command -v script >/dev/null; then
	tap_skip "names do not reach a terminal as commands" "no script(1)"
elif ! messages=$(on_a_terminal true 2>&1); then
	tap_skip "names do not reach a terminal as commands" "no terminal can be made here: $messages"
else
	for format in slices branches calls; do
		tap_check "--format=$format: names do not reach a terminal as commands" quiet_terminal $format
	done
fi
one_line_each() { # FORMAT: a newline in a name would forge a line
	mkdir -p "$work/forged"
	LC_ALL=C sed "s/leaf/$(printf 'a\\\nb')c/" "$work/sample/sample" >"$work/forged/sample"
	"$program" -q --symfs="$work/sample" --format="$1" "$sample" >"$work/plain"
	"$program" -q --symfs="$work/forged" --format="$1" "$sample" >"$work/shown"
	[ "$(wc -l <"$work/plain")" -eq "$(wc -l <"$work/shown")" ] && sed 's/leaf/a\\x0abc/g' "$work/plain" | cut -c 1-1000 >"$work/wanted" &&
		grep -cF 'a\x0abc' "$work/shown" >"$work/count" && [ "$(cat "$work/count")" -eq "$(grep -c leaf "$work/plain")" ]
}
for format in slices branches calls; do
	tap_check "--format=$format: names have no newlines in files" one_line_each $format
done
# U+202E, U+2066 and U+061C change the order of a line's text, U+2028 ends a line for some programs; C1 has U+009B. FTF
# has names as they are, so that is where the test sees that they are these; a viewer draws each alone.
steering=$(printf '\342\200\256\|\342\201\246\|\330\234\|\342\200\250\|\302\233')
steers() { # FILE
	LC_ALL=C grep -q "$steering" "$1"
}
quiet_everywhere() { # NAME OF FOUR BYTES, AS IN printf
	mkdir -p "$work/bidi"
	LC_ALL=C sed "s/leaf/$(printf "$1")/; s/work/$(printf "$1")/" "$work/sample/sample" >"$work/bidi/sample"
	"$program" -q --symfs="$work/bidi" "$sample" -o "$work/bidi/x.ftf" && steers "$work/bidi/x.ftf" || return 1
	for format in branches calls slices tree functions folded histogram chrome speedscope callgrind html; do
		"$program" -q --symfs="$work/bidi" --format=$format "$sample" -o "$work/bidi/shown" || return 1
		! steers "$work/bidi/shown" || { echo "$format: $1"; return 1; }
	done
	for command in "diff --report=markdown --a-symfs=$work/sample --b-symfs=$work/bidi $sample" diff "diff --json" why "why --json" "list --json"; do
		"$program" $command -q --symfs="$work/bidi" "$sample" >"$work/bidi/shown" 2>&1
		! steers "$work/bidi/shown" || { echo "$command: $1"; return 1; }
	done
	"$program" --symfs="$work/bidi" "$sample" -o "$work/bidi/x.ftf" --json="$work/bidi/json" 2>"$work/bidi/shown" &&
		! steers "$work/bidi/json" && ! steers "$work/bidi/shown" && ! "$top_builddir/ftfdump" "$work/bidi/x.ftf" | steers -
}
quiet_order() {
	for name in '\342\200\256X' 'X\342\201\246' '\330\234ab' 'a\342\200\250' '\302\233ab'; do
		quiet_everywhere "$name" || return 1
	done
}
tap_check "names change no order of text and end no line, in all that people read" quiet_order
quiet_messages() {
	with '/sample' '/\033[7mXY' "$work/evil.data"
	mkdir "$work/empty"
	"$program" --symfs="$work/empty" --format=none "$work/evil.data" 2>"$work/messages"
	grep -q '/?\[7mX' "$work/messages" && ! LC_ALL=C grep -q "$escape" "$work/messages" || return 1
	"$program" "$(printf 'no\033[2Jsuch\302\233file')" 2>"$work/messages"
	grep -q 'no?\[2Jsuch??file' "$work/messages" && ! LC_ALL=C grep -q "$escape" "$work/messages"
}
tap_check "messages show names without commands" quiet_messages

# ---- Paths ----
# Files that were opened or examined, except the programs' libraries and the system's tables.
opened() { # OPTIONS...
	strace -f -e trace=%file -o "$work/calls" "$program" -q --no-warn -o "$work/out/x.ftf" "$@" 2>"$work/messages"
	# From the recording on: before it are the loader's.
	# Leave out paths below --symfs, and links on the way to it, temporary files in /var/tmp, and
	# the paths that the sandbox allows (O_PATH).
	sed '1,/evil.data/d' "$work/calls" | grep -v 'RESOLVE_IN_ROOT\|readlink(\|O_PATH) =' | grep -o '"[^"]*"' | tr -d '"' | grep . | sort -u |
		grep -Ev "^($work/out|$work/sample|$work/evil.data|$work$|/proc/self|/sys/devices/system/cpu|/proc/stat$|/etc/localtime|/var/tmp)" >"$work/seen"
}
only_below_symfs() { # PATH of seven bytes, as recorded
	with '/sample' "$1" "$work/evil.data"
	opened --symfs="$work/sample" "$work/evil.data"
	[ ! -s "$work/seen" ] || { cat "$work/seen"; return 1; }
}
if strace -o /dev/null true 2>/dev/null; then
	tap_check "with --symfs only files below it are opened" only_below_symfs /sample
	tap_check "a path that climbs does not leave --symfs" only_below_symfs ../../e
	tap_check "a path without a directory does not either" only_below_symfs etc/abc
else
	tap_skip "with --symfs only files below it are opened" "no strace"
fi
outside=$work/outside
mkdir "$outside"
cp "$work/sample/sample" "$outside/sample"
link_out() {
	mkdir -p "$work/links"
	ln -sf "$1" "$work/links/sample"
	"$program" --format=branches --symfs="$work/links" "$sample" >"$work/branches" 2>"$work/messages"
	grep -q "1 binary not found" "$work/messages" && ! grep -q work "$work/branches"
}
tap_check "a symbolic link does not lead out of --symfs" link_out "$outside/sample"
tap_check "a symbolic link that climbs does not either" link_out ../outside/sample
link_inside() {
	mkdir -p "$work/links/bin"
	cp "$outside/sample" "$work/links/bin/real"
	ln -sf "$1" "$work/links/sample"
	"$program" -q --format=branches --symfs="$work/links" "$sample" | grep -q work
}
tap_check "a symbolic link within --symfs is followed" link_inside bin/real
tap_check "an absolute link is one of the recorded machine's root" link_inside /bin/real

# ---- perf-PID.map ----
map_of() { # OWNER: whether names of a map of theirs are used
	mkdir -p "$work/maps"
	printf '401000 100 a_name_from_a_map\n' >"$work/maps/perf-1234.map"
	chown "$1" "$work/maps/perf-1234.map" || return 2
	with '/sample' '//anonX' "$work/jit.data"
	"$program" -q --perf-map-dir="$work/maps" --format=branches "$work/jit.data" |
		grep -q a_name_from_a_map
}
map_not_of() {
	map_of "$1"
	[ $? -eq 1 ]
}
tap_check "the user's own perf-PID.map names code" map_of "$(id -u)"
if [ "$(id -u)" = 0 ]; then
	tap_check "a perf-PID.map of someone else does not" map_not_of 12345
else
	tap_skip "a perf-PID.map of someone else does not" "only root can give files away"
fi

# ---- Outputs ----
refused() { # OUTPUT INPUT
	cp "$2" "$work/before"
	"$program" $symfs "$2" -o "$1" 2>"$work/messages"
	[ $? -eq 1 ] && grep -q "is the input" "$work/messages" && cmp -s "$2" "$work/before"
}
symfs=--symfs=$work/sample
cp "$sample" "$work/out/recording"
ln "$work/out/recording" "$work/out/hard"
ln -s recording "$work/out/soft"
tap_check "an output that is the input is refused" refused "$work/out/recording" "$work/out/recording"
tap_check "an output that is a hard link to the input is refused" refused "$work/out/hard" "$work/out/recording"
tap_check "an output that is a symbolic link to the input is refused" refused "$work/out/soft" "$work/out/recording"
tap_check "an input under another path is refused" refused "$work/out/../out/./recording" "$work/out/recording"
# Links in /dev and /proc lead to open files: they are written, not replaced (as root, /dev/stdout would be a file then).
appended() { # the words that name standard output keep what the file has
	echo before >"$work/appended"
	"$program" -q $symfs -f slices "$sample" -o /proc/self/fd/1 >>"$work/appended" &&
		"$program" -q $symfs -f slices "$sample" >"$work/slices" && [ -s "$work/slices" ] &&
		(echo before && cat "$work/slices") | cmp - "$work/appended"
}
tap_check "standard output by name is appended to" appended
descriptor() { # the file of a descriptor stays the same file
	: >"$work/third"
	ln "$work/third" "$work/same"
	"$program" -q $symfs -f slices "$sample" -o /dev/fd/3 3>"$work/third" && cmp "$work/slices" "$work/same"
}
tap_check "a descriptor by name is written to" descriptor
# Input files keep their content, whichever option names them as an output.
spared() { # STATUS FILE ARGUMENTS...: the run ends with that status, and the file is as it was
	expected=$1
	file=$2
	shift 2
	cp "$file" "$work/before"
	"$program" -q $symfs "$@" >"$work/stdout" 2>"$work/messages"
	status=$?
	[ $status -eq "$expected" ] || { echo "status $status"; cat "$work/messages"; return 1; }
	cmp "$file" "$work/before" && [ -z "$(find "$work/out" "$work/roots" -name '*.tmp')" ] &&
		grep -q -e "${said:-it is the input}" "$work/messages"
}
mkdir "$work/roots"
# The program of the sample is read while the recording is decoded.
cp "$work/sample/sample" "$work/roots"
cp -r "$work/sample/threads.data" "$work/sample/kernel.data" "$work/sample/series.1" "$work/sample/series.2" \
	"$work/sample/vmlinux" "$work/out"
printf '0 1000 begin 0 0\n' | "$top_builddir/tests/support/make-ring" 1 1024 "$work/out/1234.events"
data=$work/out/recording
tap_check "an output that is a second input is spared" spared 1 "$work/out/series.2" \
	"$work/out/series.1" "$work/out/series.2" -o "$work/out/series.2"
tap_check "so is the kernel's file" spared 1 "$work/out/vmlinux" --kernel="$work/out/vmlinux" "$data" -o "$work/out/vmlinux"
tap_check "so is an input that --json names" spared 1 "$data" "$data" -o "$work/out/x.ftf" --json="$data"
tap_check "so is a file in a recording's directory" spared 1 "$work/out/threads.data/data" \
	"$work/out/threads.data" -o "$work/out/threads.data/data"
tap_check "or below that" spared 1 "$work/out/kernel.data/kcore_dir/kcore" \
	"$work/out/kernel.data" -o "$work/out/x.ftf" --json="$work/out/kernel.data/kcore_dir/kcore"
tap_check "so is an input that --json-lines names" spared 1 "$data" "$data" -o "$work/out/x.ftf" --json-lines="$data"
tap_check "also in a batch, with another path" spared 1 "$data" "$work/out/series.1" "$work/out/hard" -o "$work/out/new/" \
	--json-lines="$data"
printf '%s\0' "$data" >"$work/out/list"
tap_check "so is a list of inputs" spared 1 "$work/out/list" --files0-from="$work/out/list" --json-lines="$work/out/list"
"$program" clock-sync >"$work/out/clocks"
tap_check "so is a file of clocks" spared 1 "$work/out/clocks" --clock-sync="$work/out/clocks" "$data" \
	--json="$work/out/clocks" -o "$work/out/x.ftf"
tap_check "so is an overlay" spared 1 "$work/out/1234.events" --runtime-events="$work/out/1234.events,pid=1" \
	--json="$work/out/1234.events" -o "$work/out/x.ftf"
part_of_a_series() {
	cp "$data" "$work/out/part.000.ftf"
	spared 1 "$work/out/part.000.ftf" "$work/out/part.000.ftf" --split=2 -o "$work/out/part.ftf"
}
tap_check "so is an input that has the name of a part" part_of_a_series
default_name() {
	cp "$data" "$work/out/d.ftf"
	cp "$data" "$work/out/d"
	spared 64 "$work/out/d.ftf" --output='{dir}/{base}.ftf' "$work/out/d" "$work/out/hard" "$work/out/d.ftf"
}
tap_check "so is one input of a batch that has the name of another's output" default_name
from_stdin() {
	cp "$data" "$work/before"
	"$program" $symfs -q - <"$data" -o "$data" 2>"$work/messages"
	[ $? -eq 1 ] && cmp "$data" "$work/before"
}
tap_check "so is standard input" from_stdin
# --symfs in a way that spared() does not add one more.
symfs=--symfs=$work/roots
tap_check "so is a program that is read in between" spared 1 "$work/roots/sample" "$sample" -o "$work/roots/sample"
tap_check "also by --json" spared 1 "$work/roots/sample" "$sample" -o "$work/out/x.ftf" --json="$work/roots/sample"
said='other content than lines of JSON'
tap_check "and by --json-lines" spared 1 "$work/roots/sample" "$sample" -o "$work/out/x.ftf" --json-lines="$work/roots/sample"
symfs=--symfs=$work/sample
said='--output and --json would both be written to'
echo old >"$work/out/both"
ln -s . "$work/out/here"
tap_check "two outputs of one name are refused" spared 1 "$work/out/both" "$data" -o "$work/out/both" --json="$work/out/both"
tap_check "also by two paths" spared 1 "$work/out/both" "$data" -o "$work/out/both" --json="$work/out/here/both"
said='--json-lines and --output would both be written to'
tap_check "also of --json-lines" spared 64 "$work/out/list" "$data" -o "$work/out/l" --json-lines="$work/out/here/l"
said='another output would both be written to\|--json and another output'
tap_check "also of a part" spared 1 "$data" "$data" --split=2 -o "$work/out/y.ftf" --json="$work/out/here/y.000.ftf"
standard_output() {
	"$program" -q $symfs --format=slices "$data" --json="$work/out/text" >"$work/out/text" 2>"$work/messages"
	[ $? -eq 1 ] && grep -q -e '--output and --json would both be written to' "$work/messages"
}
tap_check "also of standard output" standard_output
devices() {
	"$program" -q $symfs "$data" -o /dev/null --json=/dev/null
}
tap_check "a device may be all of them" devices
mode_is() { # UMASK MODE
	rm -f "$work/out/x.ftf"
	(umask "$1"; exec "$program" -q $symfs "$sample" -o "$work/out/x.ftf")
	[ "$(stat -c %a "$work/out/x.ftf")" = "$2" ]
}
tap_check "the umask says who may read the output" mode_is 027 640
tap_check "the umask says who may write the output" mode_is 002 664
old_mode() {
	mode_is 077 600
	(umask 022; exec "$program" -q $symfs "$sample" -o "$work/out/x.ftf")
	[ "$(stat -c %a "$work/out/x.ftf")" = 600 ]
}
tap_check "who could not read the old output cannot read the new one" old_mode
# Links exist at the possible names of the temporary file.
planted_links() {
	mkdir -p "$work/trap"
	echo precious >"$work/precious"
	sh -c 'for i in $(seq 0 20); do ln -s "$1/precious" "$1/trap/x.ftf.$$.$i.tmp"; done
		exec "$2" -q $3 "$4" -o "$1/trap/x.ftf"' sh "$work" "$program" "$symfs" "$sample" || return 1
	[ "$(cat "$work/precious")" = precious ] && [ -f "$work/trap/x.ftf" ] && [ ! -L "$work/trap/x.ftf" ]
}
tap_check "links planted in the place of the temporary file are not followed" planted_links
output_is_a_link() {
	ln -sf ../precious "$work/out/link.ftf"
	"$program" -q $symfs "$sample" -o "$work/out/link.ftf" || return 1
	[ "$(cat "$work/precious")" = precious ]
}
tap_check "an output that is a link replaces the link, not what it leads to" output_is_a_link
# A recording that is a directory may contain pipes.
waits_for_no_pipe() {
	mkdir -p "$work/pipes/whole" "$work/pipes/part"
	mkfifo "$work/pipes/whole/data" "$work/pipes/part/data.0"
	cp "$sample" "$work/pipes/part/data"
	timeout 60 "$program" -q $symfs "$work/pipes/whole" -o "$work/out/pipe.ftf" 2>"$work/messages"
	[ $? -eq 1 ] && grep -q "there is no file 'data' in it" "$work/messages" || return 1
	timeout 60 "$program" $symfs "$work/pipes/part" -o "$work/out/pipe.ftf" 2>"$work/messages"
	[ $? -eq 2 ] && grep -q 'data\.0: is not a regular file: its trace and events are missing' "$work/messages"
}
tap_check "pipes in a recording's directory are not waited for" waits_for_no_pipe
tap_done
