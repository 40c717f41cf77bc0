#!/bin/sh
# SPDX-License-Identifier: MIT
# The report of a run: the summary, -v, and the JSON of --json.
. "$top_srcdir/tests/support/tap.sh"
program=$top_builddir/ptrace2ftf
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir empty
"$top_builddir/tests/support/make-sample" .
for python in python3 /usr/bin/python3 none; do
	"$python" -c 'import jsonschema' 2>/dev/null && break
done

run() { # STATUS OPTIONS...
	expected=$1
	shift
	"$program" "$@" >stdout 2>stderr
	status=$?
	[ $status -eq "$expected" ] || { echo "status $status"; cat stderr; return 1; }
}

says() { # STATUS PATTERN OPTIONS...
	pattern=$2
	expected=$1
	shift 2
	run "$expected" "$@" && grep -q -- "$pattern" stderr && return 0
	cat stderr
	return 1
}
tap_check "the summary says what to do next, and what it took" \
	says 0 '^  peak memory [0-9.]* MiB; open x.ftf at https://ui.perfetto.dev$' --symfs=. perf.data -o x.ftf
tap_check "text is not for Perfetto" says 0 'peak memory [0-9.]* MiB$' --symfs=. --format=slices perf.data
tap_check "what Perfetto does not open is named" \
	says 0 'peak memory [0-9.]* MiB; wrote x.folded$' --symfs=. perf.data -o x.folded
tap_check "it says what caused gaps and what helps" \
	says 2 '^  1 gap: code is missing; give the recorded files with --symfs' --symfs=empty perf.data -o x.ftf
# Lines of perf 6.1, but for the probe's, whose form is trace_probe.c's of Linux.
cat >text <<-'END'
	7/7 1.000001000:          1   branches:u:   call         10 f+0x1 =>         20 g+0x0
	 instruction trace error type 1 time 1.000002000 cpu -1 pid 7 tid 7 ip 0x4010 code 7: Overflow packet
	 instruction trace error type 1 time 1.000003000 cpu -1 pid 7 tid 7 ip 0x4010 code 7: Overflow packet
	 instruction trace error type 1 time 1.000004000 cpu -1 pid 7 tid 7 ip 0 code 8: Lost trace data
	7/7 1.000005000:          1 mem:0x0000000000000020:x:u:               20               20 g+0x0
	7/7 1.000006000:          1 probe_a:g: (20) x=5               0               20 g+0x0
	7/7 1.000007000:          1 branch-misses:u:                0               20 g+0x0
	7/7 1.000008000:                 20               20 g+0x0
END
text_counts() { # WORDS
	says 2 "$1" --input=perf-script text -o x.ftf
}
# seeds.md: an error's code may have several digits
# seeds.md: each decode error is a warning
tap_check "text: each error is counted by its code" \
	text_counts 'gaps in the trace (Overflow packet: 2, Lost trace data: 1)$'
# seeds.md: hits of breakpoints are not branches
tap_check "text: its hits and other samples are counted" \
	text_counts ', 6 us, 2 hits of breakpoints and probes, 2 samples of other events left out$'
# Instead of the call in work.
invalid() {
	mkdir -p other && cp sample other/ &&
		printf '\006\016\026' | dd of=other/sample bs=1 seek=4128 conv=notrunc 2>dd.log || return 1
	says 2 'invalid instruction 06 0e 16 00 00 75 f9 c3 at offset 0x1020: is this the file that ran' \
		--symfs=other perf.data -o x.ftf
}
tap_check "it shows bytes that are no instruction" invalid
# The file ends in the call in work.
cut() {
	mkdir -p ended && head -c 4130 sample >ended/sample &&
		says 2 '/sample: the code at 0x401020 continues after the end of its file, at 0x401022$' --symfs=ended perf.data -o x.ftf &&
		! grep -q 'not found' stderr
}
tap_check "it names the end of a mapping or file in code" cut
tap_check "it names files without symbols" \
	says 2 '^  no names in 1 of 1 files.*: /sample$' --symfs=empty perf.data -o x.ftf
# Branches are counted many at a time; gaps name files, and are no branches.
counts_the_same() { # STATUS OPTIONS...
	for format in none branches; do
		run "$@" --format=$format perf.data || return 1
		grep -E ' branches on |gaps?: |not found;' stderr >"said.$format"
	done
	cat said.none
	grep -q ' branches on ' said.none && diff said.branches said.none
}
tap_check "without output it counts the same" counts_the_same 0 --symfs=.
tap_check "and finds the same gaps" counts_the_same 2 --symfs=empty
# Cut before the first byte of the trace: AUXTRACE_INFO is there, AUXTRACE is not whole.
head -c 600 perf.data >cut
tap_check "it says that there is no trace" \
	says 2 '^  nothing was decoded: the input holds no trace; did the program run' --symfs=. cut -o x.ftf
quiet() {
	run 2 -q --symfs=empty perf.data -o x.ftf && [ ! -s stderr ]
}
tap_check "-q leaves it out" quiet

# The sample's one buffer has 104 bytes, its program 4 symbols (make_sample.c).
verbose() {
	run 0 -v --symfs=. perf.data -o x.ftf && grep -q '^phases: read [0-9.]* s, decode [0-9.]* s, write' stderr &&
		grep -q '^stream of cpu 0: 104 bytes of trace, 104 decoded, 0 skipped, 0 lost' stderr &&
		grep -q '^file /sample: found as .*/sample, names: all (4)' stderr && ! grep -q '^thread' stderr &&
		return 0
	cat stderr
	return 1
}
tap_check "-v names phases, buffers and files" verbose
tap_check "-vv names threads" says 0 '^thread 1234/1234: sample$' -vv --symfs=. perf.data -o x.ftf

json_to_stdout() {
	run 0 -q --json --symfs=. perf.data -o x.ftf && [ ! -s stderr ] && "$python" - <<-'END'
	import json
	one = json.load(open('stdout'))
	assert one['version'] == 1 and one['status'] == 0 and one['error'] is None
	assert one['branches'] == 22 and one['slices'] == 10
	assert one['outputs'] == ['x.ftf'] and one['inputs'][0]['path'] == 'perf.data'
	assert one['streams'][0]['bytes_decoded'] == 104 and one['streams'][0]['cpu'] == 0
	[thread] = one['threads']
	assert thread['pid'] == thread['tid'] == 1234 and thread['names'] == ['sample']
	assert thread['slices'] == 10 and thread['deepest'] == 3
	calls = {f['name']: f['calls'] for f in one['functions']['by_self']}
	assert calls == {'main': 1, 'work': 2, 'leaf': 6, '[syscall]': 1}
	[file] = one['files']
	assert file['state'] == 'found' and file['names'] == 'all' and file['code'] and file['used']
	END
}
json_has_gaps() {
	run 2 --json=summary.json --symfs=empty perf.data -o x.ftf && [ ! -s stdout ] && "$python" - <<-'END'
	import json
	one = json.load(open('summary.json'))
	assert one['status'] == 2
	assert [(g['reason'], g['count']) for g in one['gaps']] == [('no-code', 1)]
	assert {w['kind'] for w in one['warnings']} == {'missing-files', 'gaps'}
	assert one['files'][0]['state'] == 'missing' and one['files'][0]['gaps'] == 1
	t = one['trace']
	assert t['bytes_decoded'] + t['bytes_skipped'] + t['bytes_lost'] == t['bytes_total'] == 104
	END
}
json_of_failure() {
	run 1 -q --json=summary.json nothing -o y.ftf && [ ! -e y.ftf ] && "$python" -c "
import json
one = json.load(open('summary.json'))
assert one['status'] == 1 and 'nothing: cannot open' in one['error'] and one['outputs'] == []"
}

# Validate each kind of run, and each key that may be null, by the schema, which names all keys.
mkdir written
is_written() { # STATUS OPTIONS...
	expected=$1
	shift
	run "$expected" "$@" -q --json="written/$tap_name"
}
# One run of Python for all: it takes longer to start than a conversion.
are_valid() {
	"$python" - "$top_srcdir/doc/summary.schema.json" written/* <<-'END'
	import json, sys, jsonschema
	schema, *all = (json.load(open(path)) for path in sys.argv[1:])
	jsonschema.Draft7Validator.check_schema(schema)
	assert len(all) == 16, len(all)
	for path, one in zip(sys.argv[2:], all):
	    print(path)
	    jsonschema.validate(one, schema)
	    assert set(one) == set(schema['properties']), set(one) ^ set(schema['properties'])
	END
}

# Documents, or lines of them, by a schema of doc/, whose keys have the unit of --clock.
cat >validate.py <<'END'
import json, sys, jsonschema
doc, name, unit, *paths = sys.argv[1:]
def key(old):
    return unit if old == 'ns' else old[:-2] + unit if old.endswith('_ns') else old
def by_unit(one):
    if isinstance(one, list):
        return [by_unit(item) for item in one]
    if not isinstance(one, dict):
        return one
    one = {old: by_unit(value) for old, value in one.items()}
    if 'properties' in one:
        one['properties'] = {key(old): value for old, value in one['properties'].items()}
        one['required'] = [key(old) for old in one.get('required', [])]
    return one
base = 'file://' + doc + '/'
schema, summary = (json.load(open(f'{doc}/{one}.schema.json')) for one in (name, 'summary'))
jsonschema.Draft7Validator.check_schema(schema)
resolver = jsonschema.RefResolver(base, by_unit(schema), store={base + 'summary.schema.json': by_unit(summary)})
found = 0
for path in paths:
    text = open(path).read()
    for one in [json.loads(text)] if text[:2] == '{\n' else map(json.loads, text.splitlines()):
        found += 1
        print(path)
        jsonschema.validate(one, by_unit(schema), resolver=resolver)
        assert name not in ('diff', 'diff-first', 'why-merged') or one.get('functions') or one.get('threads') or one['causes']
assert found >= len(paths)
END
by_schema() { # SCHEMA UNIT FILE...
	"$python" -W ignore validate.py "$top_srcdir/doc" "$@"
}
# Two recordings have other answers, with schemas of their own.
is_by() { # SCHEMA STATUS COMMAND-LINE...
	schema=$1 expected=$2
	shift 2
	run "$expected" "$@" --json && by_schema "$schema" ns stdout
}
alone_have_a_schema() {
	mkdir alone
	run 0 list -q --json --symfs=. perf.data && mv stdout alone/list.ns || return 1
	for unit in ns insns; do
		clock=$([ $unit = ns ] || echo --clock=$unit)
		for command in '-f functions' '-f histogram --symbol=work' 'why --slow=1ns --symbol=work' 'annotate work' '--slowest=3 --symbol=work'; do
			# shellcheck disable=SC2086 # lists of words
			run 0 $command $clock -q --json --symfs=. perf.data && mv stdout "alone/${command%% --s*}.$unit" || return 1
		done
		by_schema answer $unit alone/*.$unit || return 1
	done
	[ "$(ls alone | wc -l)" -eq 11 ]
}
lines_have_a_schema() {
	run 1 -q --json-lines --symfs=. perf.data nothing -o batch/ && [ "$(wc -l <stdout)" -eq 2 ] && by_schema batch-line ns stdout &&
		run 0 -q --json-lines --skip-existing --symfs=. perf.data -o batch/ && grep -q '"skipped":true' stdout && by_schema batch-line ns stdout
}
check_has_a_schema() {
	"$program" record --check --json >check.json
	[ $? -le 1 ] && by_schema record-check ns check.json
}
index_has_a_schema() {
	run 0 -q --symfs=. --slow=p50 --symbol='*' perf.data -o by-time/ && by_schema slow-index ns by-time/index.jsonl &&
		run 0 -q --clock=insns --symfs=. --slow=p50 --symbol='*' perf.data -o by-insns/ &&
		by_schema slow-index insns by-insns/index.jsonl
}

# Functions added up from the slices' text, by name.
cat >add.awk <<'END'
{
	thread = $1; depth = $2; time = $4 - $3
	name[thread, depth] = $5
	calls[$5]++
	self[$5] += time
	if (depth)
		self[name[thread, depth - 1]] -= time
	for (i = 0; i < depth && name[thread, i] != $5; i++)
		;
	if (i == depth)
		total[$5] += time
}
END { for (one in calls) print one, calls[one], self[one], total[one] }
END
adds_up() {
	"$top_builddir/tests/ptsim/ptsim" record -o recursion.data -- "$top_builddir/tests/programs/static/recursion" \
		>/dev/null 2>&1 || return 77
	run 0 -q --json=one.json --format=slices recursion.data -o slices || return 1
	awk -f add.awk slices | grep -E '^(main|depth|fibonacci) ' | sort >wanted
	"$python" - >got <<-'END'
	import json
	f = json.load(open('one.json'))['functions']
	all = {one['name']: one for one in f['by_total'] + f['by_self']}
	for name in 'depth', 'fibonacci', 'main':
	    one = all[name]
	    print(name, one['calls'], one['self_ns'], one['total_ns'])
	for key in 'self_ns', 'total_ns':
	    times = [one[key] for one in f['by_' + key[:-3]]]
	    assert times == sorted(times, reverse=True) and len(times) <= 50
	END
	[ "$(wc -l <wanted)" -eq 3 ] && diff wanted got
}

"$program" -q --symfs=. --format=branches perf.data >branches
if [ "$python" = none ]; then
	tap_skip "--json" "no jsonschema module for Python"
else
	tap_check "--json writes to standard output" json_to_stdout
	tap_check "--json=FILE has gaps, their files, and warnings" json_has_gaps
	tap_check "a failure is reported in JSON, too" json_of_failure
	tap_check "a summary in JSON of a trace" is_written 0 --symfs=. perf.data -o x.ftf
	tap_check "a summary in JSON of one with gaps" is_written 2 --symfs=empty perf.data -o x.ftf
	tap_check "a summary in JSON of a trace in parts" is_written 0 --symfs=. --split=4 perf.data -o x.ftf
	tap_check "a summary in JSON of a part of the time" is_written 0 --symfs=. --time=20%,80% perf.data -o x.ftf
	tap_check "a summary in JSON of a run that only decodes" is_written 0 --symfs=. --format=none perf.data
	tap_check "a summary in JSON of text of perf script" is_written 0 --input=perf-script branches -o x.ftf
	tap_check "a summary in JSON of a list" is_written 0 list --symfs=. perf.data -o x.txt
	tap_check "a summary in JSON of a table of functions" is_written 0 --symfs=. --format=functions perf.data -o x.txt
	tap_check "a summary in JSON of a histogram" is_written 0 --symfs=. --format=histogram --symbol="*" perf.data -o x.txt
	tap_check "a summary in JSON of causes of slow calls" is_written 0 why --symfs=. --symbol="*" perf.data -o x.txt
	tap_check "a summary in JSON of a function annotated" is_written 0 annotate --symfs=. "*" perf.data -o x.txt
	printf '0 1000 begin 0 0\n0 2000 end 0 0\n' | "$top_builddir/tests/support/make-ring" 1 1024 4711.events
	tap_check "a summary in JSON of runtime events alone" \
		is_written 0 --runtime-events=4711.events,ocaml=5.1 -o x.ftf
	tap_check "a summary in JSON of kernel code" is_written 0 --symfs=. kernel.data -o x.ftf
	tap_check "a summary in JSON of slow calls" is_written 0 --symfs=. --slowest=3 --symbol='*' perf.data -o slow.txt
	tap_check "a summary in JSON of traces of slow calls" is_written 0 --symfs=. --slow=p50 --symbol='*' perf.data -o slow/
	tap_check "a summary in JSON of a failure" is_written 1 nothing -o x.ftf
	tap_check "the schema holds for all of them" are_valid
	tap_check "each answer alone has a schema, also by another clock" alone_have_a_schema
	tap_check "lines of a batch have a schema" lines_have_a_schema
	tap_check "record --check has a schema" check_has_a_schema
	tap_check "the index of traces of slow calls has a schema" index_has_a_schema
	tap_check "the difference has a schema" is_by diff 0 diff -q --symfs=. perf.data perf.data
	tap_check "it allows conditions and functions that one recording lacks" \
		is_by diff 3 diff -q --symfs=. --fail-if=insns:+0 kernel.data perf.data
	tap_check "the first difference has a schema" is_by diff-first 0 diff -q --no-warn --symfs=. --first kernel.data perf.data
	tap_check "causes of several recordings have a schema" \
		is_by why-merged 0 why -q --symfs=. --slow=1ns --symbol='*' perf.data perf.data
	"$top_builddir/tests/ptsim/ptsim" record -o recursion.data -- /bin/true >/dev/null 2>&1 &&
		tap_check "functions add up to what the slices do, also with recursion" adds_up
fi
# The manual explains every key.
explained() {
	sed -n '/^\.Ss The summary/,/^\.Ss Lines/p' "$top_srcdir/man/ptrace2ftf.7" | grep '^\.It' | grep -oE '[a-z_]{4,}' |
		sort >explained
	"$program" -q --json --symfs=. perf.data -o x.ftf | sed -n 's/^  "\([a-z_]*\)":.*/\1/p' | sort | diff explained -
}
tap_check "the manual explains every key" explained
no_place_for_json() {
	run 1 -q --json=none/summary.json --symfs=. perf.data -o y.ftf && grep -q 'cannot write to none/summary.json: No such file' stderr
}
tap_check "a summary that cannot be written is a failure" no_place_for_json
taken() {
	run 64 --json --symfs=. --format=slices perf.data && grep -q 'format=slices has no JSON.*name a file for the summary' stderr &&
		[ ! -s stdout ] && run 64 --json --symfs=. perf.data -o - && [ ! -s stdout ] &&
		run 64 diff -f folded --json --symfs=. perf.data perf.data && [ ! -s stdout ]
}
tap_check "standard output holds one thing" taken
# --json=FILE leaves the text, and has the answer under a key: a document besides.
is_one_document() { # KEY COMMAND-LINE...: KEY of --json=FILE is all of standard output
	key=$1
	shift
	run 0 "$@" -q --json=beside.json && mv stdout text && [ -s text ] && run 0 "$@" -q --json && [ ! -s stderr ] &&
		mv stdout alone.json && run 0 "$@" -q -o named.json && [ ! -s stdout ] && cmp alone.json named.json &&
		python3 -c 'import json, sys
whole = json.load(open("beside.json"))
assert json.load(open("alone.json")) == (whole[sys.argv[1]] if sys.argv[1] else whole)' "$key"
}
all_answers() {
	is_one_document answer list --symfs=. perf.data && is_one_document answer -f functions --symfs=. perf.data &&
		is_one_document answer -f histogram --symbol='*' --symfs=. perf.data &&
		is_one_document answer why --symbol='*' --symfs=. perf.data &&
		is_one_document answer --slowest=3 --symbol='*' --symfs=. perf.data &&
		is_one_document '' diff --symfs=. perf.data perf.data
}
if command -v python3 >/dev/null; then
	tap_check "--json prints each answer instead of its text, as one document" all_answers
else
	tap_skip "--json prints each answer instead of its text" "no python3"
fi
no_half_document() {
	run 64 -f functions --json --max-output=1kB --symfs=. perf.data && run 64 diff --json --max-output=1kB --symfs=. perf.data perf.data && grep -q -- '--max-output would cut the JSON' stderr &&
		run 1 -f functions --json nothing && [ ! -s stdout ]
}
tap_check "--json prints no half of a document" no_half_document
tap_done
