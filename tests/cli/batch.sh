#!/bin/sh
# SPDX-License-Identifier: MIT
# Many inputs in one run: each has its own output, and a failure of one does not affect
# the others.
. "$top_srcdir/tests/support/tap.sh"
program=$top_builddir/ptrace2ftf
ftfdump=$top_builddir/ftfdump
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/sample"
"$top_builddir/tests/support/make-sample" "$work/sample"
cd "$work" || exit 1
for input in a/run/perf.data b/run/perf.data c/long.data d/long.data e/one.perf e/perf.data; do
	mkdir -p "$(dirname $input)"
	cp sample/perf.data $input
done
echo "this is no recording" >bad.data
"$program" -q --symfs=sample sample/perf.data -o expected.ftf

batch() { # STATUS ARGUMENTS...
	expected=$1
	shift
	"$program" --symfs=sample "$@" >stdout 2>messages
	status=$?
	[ $status -eq "$expected" ] || { echo "status $status"; cat messages; return 1; }
}

# The slices are the same as if the input is converted alone.
same_slices() { # FILE...
	"$ftfdump" --slices expected.ftf >wanted
	for file in "$@"; do
		"$ftfdump" --slices "$file" | cmp - wanted || return 1
	done
}

names() {
	batch 0 -o new/out/ a/run/perf.data b/run/perf.data c/long.data d/long.data e/one.perf e/perf.data || return 1
	printf '%s\n' a-run.ftf b-run.ftf c-long.ftf d-long.ftf e.ftf one.perf.ftf >wanted-names
	ls new/out | diff wanted-names - && same_slices new/out/*.ftf
}
tap_check "-o DIR/ names outputs after inputs, with directories where they are the same" names

existing_directory() {
	mkdir there
	batch 0 c/long.data -o there && [ "$(ls there)" = long.ftf ] &&
		batch 0 c/long.data -o "$work/absolute/new/" && [ "$(ls absolute/new)" = long.ftf ]
}
tap_check "-o may be a directory that is there" existing_directory

one_name() { # PATTERN: two outputs have one name
	batch 64 --output="$1" c/long.data d/long.data && [ ! -e long.ftf ] &&
		grep -q 'c/long.data and d/long.data would both be written to long.ftf' messages
}
tap_check "two inputs with one output are wrong usage before anything is written" one_name '{base}.ftf'
same_input() {
	batch 64 -o twice/ c/long.data c/long.data && [ ! -e twice ]
}
tap_check "so is an input that is named twice" same_input
over_an_input() {
	batch 64 --output='{dir}/{name}' c/long.data d/long.data && cmp c/long.data sample/perf.data &&
		batch 64 --output='./{dir}/{name}' c/long.data && cmp c/long.data sample/perf.data
}
tap_check "an input is never overwritten" over_an_input

pattern() {
	batch 0 --output='p/{dir}/{n}-{base}-{name}.ftf.gz' c/long.data d/long.data || return 1
	same_slices p/c/1-long-long.data.ftf.gz p/d/2-long-long.data.ftf.gz
}
tap_check "--output names outputs and makes their directories" pattern
unknown_word() {
	batch 64 --output='{dir}/{nam}.ftf' c/long.data && grep -q '{nam}.*only {dir}, {base}, {name} and {n}' messages
}
tap_check "an unknown word in a pattern is wrong usage" unknown_word

one_bad() {
	batch 1 -o bad/ bad.data c/long.data nothing.data e/one.perf || return 1
	[ "$(ls bad | tr '\n' ' ')" = "long.ftf one.perf.ftf " ] && same_slices bad/*.ftf &&
		grep -q '^ptrace2ftf: bad.data: is not a perf.data' messages &&
		grep -q '^ptrace2ftf: c/long.data: 22 branches' messages &&
		grep -q '^ptrace2ftf: 4 files: 2 whole, 2 failed$' messages
}
tap_check "bad inputs are named and cost only themselves" one_bad

# The name of one input is the beginning of its message (22 branches), the other's would colour the
# terminal.
messages_have_names() {
	cp c/long.data 2 && cp c/long.data "$(printf 'x\033[31m')" &&
		batch 0 -o messages-of/ 2 "$(printf 'x\033[31m')" && grep -q '^ptrace2ftf: 2: 22 branches' messages &&
		grep -qF 'ptrace2ftf: x?[31m: 22 branches' messages && ! grep -q "$(printf '\033')" messages
}
tap_check "messages begin with the input, as the terminal may see it" messages_have_names

# The end of the features is cut: a warning, and all branches.
worst() {
	head -c $(($(wc -c <c/long.data) - 8)) c/long.data >cut.data
	cp cut.data cut2.data
	batch 2 -o worst/ cut.data c/long.data && batch 2 -o worst/ cut.data cut2.data && batch 1 -o worst/ cut.data bad.data c/long.data &&
		batch 0 --no-warn -o worst/ cut.data c/long.data
}
tap_check "the exit status is the worst: 1, then 2, then 0" worst

json() {
	batch 1 --json-lines -o json/ bad.data cut.data c/long.data || return 1
	printf '%s\n' 'bad.data null 1 true' 'cut.data 22 2 false' 'c/long.data 22 0 false' >wanted-lines
	jq -r '"\(.input) \(.branches) \(.status) \(.error | . != null and test("not a perf.data"))"' stdout |
		diff wanted-lines - || return 1
	batch 0 --json-lines=lines c/long.data -o json/x.ftf && batch 0 --json-lines=lines c/long.data -o json/y.ftf &&
		[ "$(jq -r .output lines | tr '\n' ' ')" = "json/x.ftf json/y.ftf " ] && [ ! -s stdout ] &&
		jq -es 'all(.version == 1 and .seconds >= 0 and .peak_bytes > 100000 and .slices == 10 and
			.report.threads[0].tid == 1234 and .report.status == 0)' lines >/dev/null
}
if command -v jq >/dev/null; then
	tap_check "--json-lines reports each input, on standard output or at the end of a file" json
else
	tap_skip "--json-lines reports each input" "no jq"
fi

no_place_for_lines() {
	batch 1 --json-lines=/dev/full c/long.data e/one.perf -o no-lines/ && same_slices no-lines/*.ftf &&
		[ "$(grep -c '/dev/full: cannot write' messages)" -eq 1 ]
}
if [ -c /dev/full ]; then
	tap_check "lines that cannot be written are one message and a failure, and cost no output" no_place_for_lines
fi

list() {
	printf 'c/long.data\0e/one.perf\0' | batch 0 --files0-from=- -o list/ && same_slices list/long.ftf list/one.perf.ftf &&
		printf 'c/long.data\0d/long.data' >names0 && batch 0 --files0-from=names0 &&
		same_slices c/long.ftf d/long.ftf
}
tap_check "--files0-from reads names; without -o each output is beside its input" list
bad_lists() {
	: >empty
	batch 64 --files0-from=empty && printf 'c/long.data\0\0' >names0 && batch 64 --files0-from=names0 &&
		grep -q "name 2 .* is empty" messages && batch 64 --files0-from=no-such-list &&
		printf 'c/long.data\0' >names0 && batch 64 --files0-from=names0 -o one.ftf
}
tap_check "a list without names, with an empty one, or with one output is wrong usage" bad_lists

endless_lists() {
	batch 64 --files0-from=/dev/zero -o list/ && grep -q "name 1 in '/dev/zero' is empty" messages || return 1
	yes 0123456789abcde | tr -d '\n' | batch 64 --files0-from=- -o list/ && grep -q "name 1 in '-' has more than 4096 bytes" messages &&
		yes 0123456789abcdef0123456789abcdef0123456789abcdef | tr '\n' '\0' | batch 64 --files0-from=- -o list/ &&
		grep -q 'more than 64 MiB' messages
}
tap_check "a list without end is wrong usage" endless_lists

series() {
	batch 0 sample/series.1 sample/series.2 -o series.ftf && same_slices series.ftf &&
		batch 1 c/long.data d/long.data -o one.ftf && grep -q -- '-o DIR/' messages
}
tap_check "several inputs with one output stay one recording" series
# Of a series only the first file has an output.
without_output() {
	rm -f sample/*.ftf c/*.ftf d/*.ftf
	batch 0 --join sample/series.1 sample/series.2 && [ "$(ls sample/*.ftf)" = sample/series.1.ftf ] || return 1
	batch 0 c/long.data d/long.data && same_slices c/long.ftf d/long.ftf &&
		grep -q '^ptrace2ftf: each .* its own output: cannot join d/long.data to c/long.data .*: both have the same content$' messages && batch 1 --join c/long.data d/long.data || return 1
	# The second part alone has no PSB, at which decoding can begin.
	batch 2 sample/series.1 sample/series.2 && grep -q ' own output: a host name, .* is missing; --join' messages || return 1
	batch 2 --join=never sample/series.1 sample/series.2 && [ -s sample/series.2.ftf ] || return 1
	batch 64 --join c/long.data d/long.data -o list/ && grep -q 'cannot combine --join' messages
}
tap_check "several inputs are recordings of their own unless they are proven parts of one" without_output

# ---- Skipping -------------------------------------------------------------
made() { # OUTPUT: whether it was made again
	! grep -q "$1 is up to date" messages
}
skips() { # SUFFIX OPTIONS...
	suffix=$1
	shift
	rm -rf skip
	for wanted_now in made skipped; do
		batch 0 "$@" --skip-existing --output="skip/{base}$suffix" c/long.data e/one.perf || return 1
		for name in long one; do
			made skip/$name"$suffix" && now=made || now=skipped
			[ $now = $wanted_now ] || { echo "$name$suffix: $now"; return 1; }
		done
	done
	grep -q '2 files: 2 whole (2 of them already up to date)$' messages
}
tap_check "--skip-existing makes nothing again" skips .ftf
tap_check "nor what is gzipped" skips .ftf.gz
tap_check "nor what is packed by zstd" skips .ftf.zst
touch attribute
if python3 -c 'import os; os.setxattr("attribute", "user.x", b"1")' 2>/dev/null; then
	tap_check "nor text" skips .txt --format=slices
	tap_check "nor packed text" skips .txt.gz --format=calls
else
	tap_skip "nor text" "no extended attributes here"
fi
# A failure leaves the older output, which was not made of these bytes.
failed_before() {
	mkdir -p failed && echo old >failed/bad.slices
	for time in first second; do
		batch 1 --skip-existing --format=slices bad.data -o failed/ || return 1
	done
}
tap_check "what failed is tried again, also where an older output is" failed_before
again() {
	cp c/long.data changing.data
	batch 0 --skip-existing -o skip/ changing.data && batch 0 --skip-existing -o skip/ changing.data &&
		! made skip/changing.ftf && touch changing.data && batch 0 --skip-existing -o skip changing.data &&
		! made skip/changing.ftf || return 1
	batch 0 --skip-existing --args=none -o skip/ changing.data && made skip/changing.ftf || return 1
	# Another content of the same size and time: the path of a program whose code is missing.
	sed 's/sample/simple/' c/long.data >changed
	touch -r changing.data changed
	mv changed changing.data
	batch 2 --skip-existing --args=none -o skip/ changing.data && made skip/changing.ftf &&
		"$ftfdump" --names skip/changing.ftf | grep -q simple || return 1
	batch 0 --skip-existing --args=none -o skip/ changing.data && ! made skip/changing.ftf || return 1
	"$program" -q --symfs=sample --args=none changing.data -o skip/changing.ftf
	batch 2 --skip-existing --args=none -o skip/ changing.data && made skip/changing.ftf
}
tap_check "another content, other options or no stamp make it again; another time does not" again

# The folder of outputs, the number of threads, and the names of inputs do not matter.
same_stamp() {
	cp c/long.data one-name.data && cp c/long.data other-name.data &&
		batch 0 --skip-existing -o stamp/x.ftf one-name.data && made stamp/x.ftf &&
		batch 0 --skip-existing -ostamp/x.ftf -j1 other-name.data && ! made stamp/x.ftf &&
		batch 0 --skip-existing --jobs 2 --threads=3 --output stamp/x.ftf --json=stamp.json one-name.data &&
		! made stamp/x.ftf || return 1
	batch 0 --skip-existing --depth=9 -o stamp/x.ftf one-name.data && made stamp/x.ftf
}
mkdir stamp
tap_check "outputs, threads and names of inputs make nothing again" same_stamp

# ---- Processes ------------------------------------------------------------
mkfifo first.data second.data stuck.data
side_by_side() { # the second is fed first: one after the other would wait for ever
	(cat sample/perf.data >second.data; cat sample/perf.data >first.data) &
	timeout 600 "$program" -q --symfs=sample --jobs=2 first.data second.data -o beside/ &&
		same_slices beside/first.ftf beside/second.ftf
}
tap_check "--jobs converts side by side" side_by_side

# Nothing is written to the pipe, so the other input has time, on a busy machine, too.
timed_out() {
	mkfifo silent.data
	batch 1 --json-lines=timed.json --timeout=3s silent.data c/long.data -o timed/ && [ "$(ls timed)" = long.ftf ] &&
		grep -q 'silent.data: took longer than --timeout allows' messages && same_slices timed/long.ftf &&
		grep -q '"input":"silent.data".*"status":1,"signal":14.*"timed_out":true' timed.json
}
tap_check "--timeout ends one input, and says so" timed_out
no_batch() {
	batch 64 --timeout=1s c/long.data -o x.ftf && grep -q -- '--timeout needs a batch' messages
}
tap_check "it is no option of a single conversion" no_batch

child_of() { # PID: waits until it has one child only, and prints that
	until [ "$(pgrep -c -P "$1")" -eq 1 ]; do sleep 0.05; done
	pgrep -P "$1"
}
killed() {
	"$program" --symfs=sample --json-lines=killed.json --jobs=2 stuck.data c/long.data -o killed/ 2>messages &
	parent=$!
	until [ -s killed/long.ftf ]; do sleep 0.05; done
	child=$(child_of $parent)
	: >"killed/stuck.ftf.$child.0.tmp"
	kill -9 "$child"
	wait $parent
	[ $? -eq 1 ] && [ "$(ls killed)" = long.ftf ] && grep -q '^ptrace2ftf: stuck.data: its process was ended by signal 9' messages &&
		grep -q '"input":"stuck.data".*"status":1,"signal":9' killed.json && same_slices killed/long.ftf
}
# The output of an interrupted run is not complete, and must not have the stamp.
interrupted() {
	mkdir -p "$work/large" && "$top_builddir/tests/ptsim/ptsim" record --repeat=67108864 -o "$work/large/large.data" -- \
		"$top_builddir/tests/programs/static/indirect" >/dev/null 2>&1 || { echo "cannot record here"; return 0; }
	# Processes that sh starts in the background ignore SIGINT.
	env --default-signal=INT "$program" --json-lines=interrupted.json "$work/large/large.data" -o interrupted/ 2>messages &
	parent=$!
	until ls interrupted/large.ftf.*.tmp >/dev/null 2>&1; do sleep 0.05; done
	kill -INT $parent
	wait $parent
	[ $? -eq 130 ] && [ -z "$(ls interrupted)" ] && jq -e '.status == 1 and (.error | test("nterrupt"))' interrupted.json >/dev/null
}
# Without a stamp, an output is kept, as without --json-lines.
interrupted_alone() {
	[ -e "$work/large/large.data" ] || return 0
	env --default-signal=INT "$program" --json-lines=alone.json "$work/large/large.data" -o alone.ftf 2>messages &
	parent=$!
	# SIGINT may come before anything is written, and then leaves nothing.
	until [ -n "$(find . -name 'alone.ftf.*.tmp' -size +0)" ]; do sleep 0.05; done
	kill -INT $parent
	wait $parent
	[ $? -eq 130 ] && "$ftfdump" --check alone.ftf
}
# A batch started by nohup(1) continues.
hang_up() {
	(trap '' HUP; exec "$program" -q --symfs=sample --json-lines=/dev/null stuck.data -o hung-up/) &
	parent=$!
	child=$(child_of $parent)
	kill -HUP $parent
	cat sample/perf.data >stuck.data
	wait $parent && same_slices hung-up/stuck.ftf
}
orphaned() { # nobody waits for a conversion whose batch is gone
	"$program" --symfs=sample stuck.data c/long.data -o orphaned/ 2>messages &
	parent=$!
	child=$(child_of $parent)
	until grep -q '^State:.S' "/proc/$child/status"; do sleep 0.05; done # it waits for its input
	kill -9 $parent
	wait $parent 2>/dev/null
	for tenth in $(seq 100); do
		kill -0 "$child" 2>/dev/null || return 0
		sleep 0.1
	done
	kill -9 "$child"
	return 1
}
terminated() {
	"$program" --symfs=sample stuck.data c/long.data -o terminated/ 2>messages &
	parent=$!
	child=$(child_of $parent)
	kill -TERM $parent
	wait $parent
	[ $? -eq 143 ] && ! kill -0 "$child" 2>/dev/null && [ -z "$(ls terminated)" ] &&
		grep -q '2 files: 0 whole, 1 failed, 1 not begun' messages
}
if command -v pgrep >/dev/null; then
	tap_check "a process that is killed fails its own file, and leaves nothing" killed
	tap_check "if the batch is killed, its processes end" orphaned
	tap_check "SIGTERM ends all" terminated
	tap_check "SIGHUP that is ignored ends nothing" hang_up
	tap_check "SIGINT leaves nothing that looks whole" interrupted
	tap_check "SIGINT leaves what is decoded of one that is no part of a batch" interrupted_alone
else
	tap_skip "a process that is killed fails its own file" "no pgrep"
fi
one_stdout() {
	batch 64 --json-lines --format=slices c/long.data && batch 64 --json-lines c/long.data -o - &&
		batch 64 --json-lines --json c/long.data -o one.ftf && [ ! -e one.ftf ] && [ ! -s stdout ]
}
tap_check "lines and something else on standard output are wrong usage" one_stdout
no_json() {
	batch 64 -o out/ --json=summary c/long.data && grep -q -- "--json-lines" messages
}
tap_check "--json, of one output, is no part of a batch" no_json
no_stdin() {
	batch 64 -o out/ - <c/long.data && grep -q "cannot name an output after standard input" messages
}
tap_check "standard input is no part of a batch" no_stdin
text() {
	"$program" -q --symfs=sample --format=branches c/long.data >text1
	cp text1 text2
	batch 0 --input=perf-script --format=slices text1 text2 -o text/ && cmp text/text1.slices text/text2.slices &&
		grep -q leaf text/text1.slices
}
tap_check "texts can be converted side by side, too, and outputs are named by the format" text
tap_done
