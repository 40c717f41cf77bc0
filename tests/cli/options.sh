#!/bin/sh
# SPDX-License-Identifier: MIT
# Parsing of options: groups, misspelt options, versions.
. "$top_srcdir/tests/support/tap.sh"
program=$top_builddir/ptrace2ftf
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

groups() {
	for all in '' =all; do
		[ "$("$program" --help$all | sed -n 's/^\([A-Z][A-Za-z]*\):$/\1/p' | tr '\n' ' ')" = \
			"Commands Input Selection Symbols Output OCaml Decoding Batches General ${all:+Expert }" ] || return 1
	done
}
tap_check "--help has its options in groups, for experts at the end" groups
each_command() {
	for command in open record list diff clock-sync help; do
		"$program" --help | grep -q "^  $command " && "$program" $command --help | head -1 |
			grep -q "^Usage: ptrace2ftf $command" &&
			"$program" help $command | diff - "$work/help.$command" || { echo $command; return 1; }
	done
}
for command in open record list diff clock-sync help; do "$program" $command --help >"$work/help.$command"; done
tap_check "each command is listed and has its own help" each_command
why_explains() {
	for all in '' =all; do
		"$program" why --help$all | grep -q -- '--slow=TIME  *Explain calls longer than TIME, or p99' || return 1
		"$program" --help$all | grep -q -- '--slow=TIME  *List calls of --symbol' || return 1
	done
}
tap_check "the help of --slow is that of the command" why_explains
# The kind of output is refused before a missing input.
takes_listed_formats() {
	for command in open record diff ''; do
		formats=$("$program" $command --help | awk '/--format/ { on = 1; sub(/.*FORMAT/, "") } /--(args|top)/ { exit } on' |
			tr -d '\n' | sed 's/:.*//; s/(default)//; s/,/ /g')
		for format in $formats; do
			set -- -f $format missing missing.too
			[ "$command" = diff ] || set -- -f $format missing
			case $command,$format in
			*,histogram) set -- --symbol=f "$@" ;;
			,memtrace | record,memtrace) continue ;; # cut from a file that another option names
			record,*) set -- -f $format --dry-run true ;;
			open,*) set -- -o x.$format "$@" ;;
			esac
			"$program" $command "$@" >"$work/stdout" 2>"$work/messages" </dev/null
			[ $? -ne 64 ] || { echo "$command $*"; cat "$work/messages"; return 1; }
		done
		[ "$(echo $formats | wc -w)" -gt 0 ] || return 1
	done
}
tap_check "a command takes each format that its help lists" takes_listed_formats

# One message on stderr that ends with what was meant, nothing on stdout, status 64.
suggests() { # PATTERN OPTIONS...
	pattern=$1
	shift
	"$program" "$@" 2>"$work/messages" >"$work/stdout"
	[ $? -eq 64 ] && [ ! -s "$work/stdout" ] && grep -q -- "$pattern" "$work/messages" && return 0
	cat "$work/messages"
	return 1
}
tap_check "a misspelt option is an error with the option meant" \
	suggests "^ptrace2ftf: unrecognized option '--fromat'; did you mean '--format'?$" --fromat=ftf a
tap_check "also one of another group, after other options" \
	suggests "'--memtrase'; did you mean '--memtrace'" -q -o x --symfs --fromat --memtrase a
tap_check "a misspelt word is an error with the word meant, and all others" \
	suggests "unknown --format 'slises'; choose from ftf, branches.*; did you mean 'slices'?$" --format=slises a
suggests_nothing() {
	suggests "unrecognized option '--nonsense'" --nonsense a && ! grep -q "did you mean" "$work/messages" &&
		suggests "unrecognized option '--port'; .*--help=all. lists all" --port a && ! grep -q "did you mean" "$work/messages" &&
		suggests "'zzz'; choose from [a-z, -]*$" --mode=zzz a
}
tap_check "what is near to none gets no suggestion" suggests_nothing
# Words of perf are no errors of spelling.
foreign_words() {
	suggests "'-C'; did you mean '--cpu'?$" -qC 1 a && suggests "'-z'; .*lists all$" -qz a &&
		suggests "'--pprof'; did you mean 'ptrace2ftf -f pprof'?$" --pprof && suggests "choose from none, loc, line, full$" --args=text a &&
		suggests "'report'; did you mean 'ptrace2ftf -f functions'?$" report &&
		suggests "'--slower-than'; did you mean '--slow'?$" --slower-than=1us a &&
		suggests "'--list'; did you mean 'ptrace2ftf list'?$" --list a && suggests "did you mean 'chrome'?$" -f json a &&
		suggests "'outliers'; choose .*; did you mean 'ptrace2ftf why'?$" -f outliers a && suggests "did you mean 'ptrace2ftf annotate'?$" -f annotate a &&
		suggests "'slowest'; did you mean '--slowest'?$" slowest a && suggests "'--why'; did you mean 'ptrace2ftf why'?$" --why a
}
tap_check "words of perf and other tools have what is meant here" foreign_words
tap_check "a command of one letter less is a misspelt command" suggests "unknown command 'wy'; did you mean 'why'?$" wy a
takes_arguments() {
	"$program" --strip-prefix --fromat "$work/nothing" 2>"$work/messages"
	[ $? -eq 1 ] && grep -q "nothing: cannot open" "$work/messages"
}
tap_check "an option's argument is not taken for an option" takes_arguments
# A later version may have another option with the same beginning.
tap_check "the beginning of an option is not the option" suggests "'--thr'; did you mean '--threads'?$" --thr=4 a
# Other tools choose a thread so.
tap_check "--thread= has the options that choose threads, and that of decoding" \
	suggests "'--thread'; did you mean '--comm' (names), '--tid' (numbers) or '--threads'?$" --thread=worker-3 a
foreign() {
	suggests '`ptrace2ftf list` takes no --depth; leave it out$' list --depth=3 a &&
		suggests '^ptrace2ftf: --fail-if needs `ptrace2ftf diff`$' --fail-if=insns:+1 a &&
		suggests '`ptrace2ftf diff` takes no --fit' diff --fit=2M a b
}
tap_check "an option of another command is an error with that command" foreign
values() {
	suggests "^ptrace2ftf: --output needs a value; write --output=FILE$" a -qo &&
		suggests "^ptrace2ftf: --quiet takes no value; leave out '=x'$" --quiet=x a
}
tap_check "a value that is missing, or too much, is an error" values

# One message with the option's name, nothing converted.
is_wrong() { # PATTERN OPTIONS...
	suggests "$@" && [ "$(grep -c '^ptrace2ftf: \|^[^ ]*/ptrace2ftf: ' "$work/messages")" -eq 1 ]
}
numbers() {
	for bad in 0 -1 x 1025 2x ''; do
		is_wrong "invalid --threads '$bad'; expected a number from 1 to 1024" --threads=$bad a || return 1
	done
	for bad in 0 x; do
		is_wrong "invalid --verify '$bad'; expected a number from 1" --verify=$bad a || return 1
	done
	for bad in 10001 -1 x; do
		is_wrong "invalid --jobs '$bad'; expected a number from 0 to 10000" --jobs=$bad a || return 1
	done
	for bad in 0 -1 x 4294967296; do
		is_wrong "invalid --depth '$bad'; expected a number from 1 to 4294967295" --depth=$bad a || return 1
	done
}
tap_check "numbers that are none, or too many, are wrong usage" numbers
# An empty variable of a script must not change the output's name.
empty() {
	for option in output json json-lines files0-from symfs kernel clock-sync debug-dir strip-prefix \
		runtime-events memtrace ui; do
		is_wrong "invalid --$option ''; expected a non-empty [A-Z]" "--$option=" a || return 1
	done
	is_wrong "invalid --output ''" a -o '' && is_wrong "cannot read an input with an empty name" a ''
}
tap_check "names that are empty are wrong usage" empty
excluded() {
	is_wrong "cannot combine overlays with several recordings; leave out 'b'" --memtrace=m -o out/ a b &&
		is_wrong "need a perf.data file" --input=perf-script --format=slices --tid=1 a &&
		is_wrong "overlays without a recording are shown whole" --memtrace=m --time=0%,10% -o x.ftf &&
		is_wrong "overlays without a recording are shown whole" --runtime-events=m --tid=1 -f events &&
		is_wrong "overlays without a recording are shown whole" --runtime-events=m --min-duration=1ms -o x.ftf &&
		is_wrong "choose slices to show, and calls are measured whole" -f histogram --hide=x a &&
		is_wrong "choose slices to show, and calls are measured whole" --slowest=3 --min-duration=1us a &&
		is_wrong "choose slices to show, and calls are measured whole" --slow=1us --depth=2 -o x.txt a &&
		is_wrong "\`ptrace2ftf why\` takes no --hide; leave it out" why --hide=x a &&
		is_wrong "\`ptrace2ftf why\` takes no --min-duration; leave it out" why --min-duration=1us a &&
		is_wrong "\`ptrace2ftf annotate\` takes no --depth; leave it out" annotate f --depth=2 a &&
		is_wrong "a memtrace file is cut from another one; name one, with --memtrace=FILE" -o x.ctf a &&
		is_wrong "a memtrace file is cut from another one; name one, with --memtrace=FILE" --memtrace=m --memtrace=n -o x.ctf &&
		is_wrong "a memtrace file is cut from another one; name one, with --memtrace=FILE" --runtime-events=m -o x.ctf &&
		is_wrong "cannot write a recording as memtrace, which has allocations only; leave out 'a'" --memtrace=m -o x.ctf a &&
		is_wrong "cannot combine --pid and --format=memtrace; leave out --pid" --memtrace=m --pid=1 -o x.ctf &&
		is_wrong "memtrace files have no hits; choose a time" --memtrace=m --time=@hit, -o x.ctf &&
		is_wrong "cannot combine --clock-sync and --format=memtrace; leave out --clock-sync" --memtrace=m --clock-sync=real=1 -o x.ctf &&
		is_wrong "cannot name an output after overlays; name it with -o" --memtrace=m --format=memtrace &&
		is_wrong "invalid --clock-sync 'mono=x'; expected a file, mono=TIME or real=TIME" --memtrace=m --clock-sync=mono=x -o x.ftf &&
		is_wrong "--inline needs --stacks=precise" --inline --stacks=magic-trace a &&
		is_wrong "--stacks=flows needs --format=ftf" --stacks=flows --format=chrome a &&
		is_wrong "--unit needs --format=folded" --unit=1us a &&
		is_wrong "--unit needs a time of 1ns or more" -f folded --unit=0 a &&
		is_wrong "cannot write a table to 'x.ftf': the suffix is that of --format=ftf; change it" diff a b -o x.ftf &&
		is_wrong "cannot write --format=folded to 'x.ftf': .*; change one of them" diff -f folded a b -o x.ftf &&
		is_wrong "cannot combine --fit and --stacks=flows: .*; choose one" --stacks=flows --fit=2M a
}
tap_check "options that exclude each other are wrong usage" excluded
# The columns of the option table.
columns() {
	is_wrong "--top needs --format=functions" --top=3 a && is_wrong "--sort needs --format=functions" --sort=calls a &&
		is_wrong "--max-stack needs --format=folded or pprof" --max-stack=3 a &&
		is_wrong "cannot combine --fit and --split; choose one" --fit=3 --split=4 -o x.ftf a &&
		is_wrong "--context needs --slowest or --slow" --context=1us a && is_wrong "--map needs --raw" --map=f@1 a &&
		is_wrong "cannot combine --raw and --input or --files0-from; choose one" --raw=x --input=perf-script &&
		is_wrong "cannot combine --args and --format=magic-trace; leave out --args" -f magic-trace --args=full a &&
		is_wrong "--counters needs --format=ftf or html" -f magic-trace --counters=1us a
}
tap_check "options need formats and other options, as the table says" columns
# The words of the old name, of the new one, and a line of the message.
renamed() {
	: >"$work/vmlinux" && printf 'ffffffff9a000000 T f\n' >"$work/kallsyms" && mkdir -p "$work/kcore" || return 1
	while IFS='|' read -r old new message; do
		# shellcheck disable=SC2086 # words
		"$program" $old missing >"$work/old" 2>&1 </dev/null
		status=$?
		# shellcheck disable=SC2086
		"$program" $new missing 2>&1 </dev/null | grep -v ' is now ' >"$work/new"
		# shellcheck disable=SC2086
		"$program" -q $old missing >"$work/quiet" 2>&1 </dev/null
		[ "$status" -ne 0 ] && { [ -z "$message" ] || grep -q "^ptrace2ftf: warning: $message.* ends with release 2.0" "$work/old"; } &&
			! grep ' is now ' "$work/quiet" && grep -v ' is now ' "$work/old" | cmp - "$work/new" || { echo "$old"; cat "$work/old" "$work/new"; return 1; }
	done <<-END
		--clock-offset=mono=x|--clock-sync=mono=x|
		--clock-offset=mono=1|--clock-sync=mono=1|--clock-offset is now --clock-sync
		--flows -f chrome|--stacks=flows -f chrome|
		--flows|--stacks=flows|--flows is now --stacks=flows
		--tail-calls=nest|--stacks=precise|--tail-calls is now --stacks=precise
		--tail-calls nest|--stacks precise|--tail-calls is now --stacks=precise
		--tail-calls=replace|--stacks=replace|--tail-calls is now --stacks
		--tail-calls=x|--stacks=x|
		--like=magic-trace|--format=magic-trace|--like is now --format
		--like=magic-trace --args=line|--format=magic-trace --args=line|
		--no-join missing|--join=never missing|--no-join is now --join=never
		--output-pattern={nam}|--output={nam}|--output-pattern is now --output
		--kallsyms=$work/kallsyms|--kernel=$work/kallsyms|--kallsyms is now --kernel
		--kcore=$work/kcore|--kernel=$work/kcore|--kcore is now --kernel
		--vmlinux=$work/none|--kernel=$work/none|--vmlinux is now --kernel
		--open|--open|--open is now .ptrace2ftf open.
	END
}
tap_check "options with an old name do the same, and the message has the new one" renamed
# An old name stays up to the next major release.
all_renamed() {
	sed -n '/^const struct renamed_option renamed_options/,/^};/s/^	{ "\([a-z-]*\)", .*/\1/p' "$top_srcdir/src/cli/option_table.c" |
		sort -u >"$work/renamed"
	printf '%s\n' clock-offset flows html kallsyms kcore like no-join output-pattern tail-calls vmlinux | diff - "$work/renamed"
}
tap_check "no old name is missing" all_renamed
page_by_old_name() {
	"$program" why --html="$work/old.html" missing.data >"$work/old" 2>&1
	[ $? -eq 1 ] && grep -q '^ptrace2ftf: warning: --html is now --output, and its old name ends with release 2.0$' "$work/old" &&
		grep -q 'missing.data: cannot open' "$work/old"
}
tap_check "the old name of why's page works" page_by_old_name
# -f calls shows slices, but no choice of them.
slices_as_found() {
	for option in --symbol=f --min-duration=1us --depth=2; do
		is_wrong "choose among sorted slices, and this --format shows all of them in the order found; leave them out, or choose --format=slices or tree" -f calls $option a &&
			is_wrong "choose slices, which this --format does not show" -f branches $option a || return 1
	done
	is_wrong "^ptrace2ftf: --slow prints a table, or writes traces with -o DIR/; leave out --format$" -f calls --slow=0 a
}
tap_check "choosing slices for a format of slices as found is an error that says so" slices_as_found
suffixes() {
	is_wrong "cannot write --format=html to 'x.ftf': the suffix is that of --format=ftf" -f html -o d/x.ftf.gz a &&
		is_wrong "to 'x.HTML': the suffix is that of --format=html" -f ftf -o x.HTML a &&
		is_wrong "cannot write a table to 'x.ftf': the suffix is that of --format=ftf; change it" why -o x.ftf a.data &&
		is_wrong "cannot write a table to 'x.ftf': .* change it" annotate main -o x.ftf a &&
		is_wrong "cannot write a table to 'x.lcov': .* change it" list -o x.lcov a &&
		is_wrong "cannot write a table to 'x.html': .* change it" diff a b -o x.html &&
		is_wrong "cannot write 'x.profdata' as .profdata: .*; choose a name in .prof" -o x.profdata a &&
		is_wrong "cannot write 'x.fdata' as .fdata: .*; choose a name in .bolt" -o x.fdata a &&
		is_wrong "cannot write 'x.ftf.xz' as .xz: unknown compression; choose .gz or .zst" -o x.ftf.xz a &&
		is_wrong "cannot write '{base}.perfetto-trace' as .*; choose a name in .ftf" \
			--output='{base}.perfetto-trace' a &&
		is_wrong "cannot choose a format for '{base}.tsv': .tsv does not name one; choose" --output='{base}.tsv' a || return 1
	# Each is that of a format which does not exist, of several, or mistyped.
	for suffix in tsv tsv.gz ndjson arrow txt ftff a1; do
		is_wrong "cannot choose a format for 'x.${suffix%.gz}': .${suffix%.gz} does not name one; choose it with -f, .* or a name in .ftf, .*, .html$" \
			-o d/x.$suffix a && is_wrong "${suffix%.gz}" record -o x.$suffix -- true || return 1
	done
}
tap_check "an output's suffix that means something else is wrong usage" suffixes
commands() {
	is_wrong "unknown command 'opne'; did you mean 'open'?" opne a &&
		is_wrong "unknown command 'recrod'; did you mean 'record'?" recrod -- ls &&
		is_wrong "clock-sync. takes no arguments; leave out 'a'" clock-sync a
}
tap_check "a misspelt command is wrong usage, and the right one named" commands
in_any_order() {
	"$top_builddir/tests/support/make-sample" "$work" &&
		POSIXLY_CORRECT=1 "$program" "$work/perf.data" -q -o "$work/order.ftf" --symfs="$work" &&
		POSIXLY_CORRECT=1 "$top_builddir/ftfdump" "$work/order.ftf" --check
}
tap_check "options may follow inputs whatever the environment says" in_any_order
help_by_letter() {
	"$program" -h >"$work/short" && "$program" --help | cmp - "$work/short"
}
tap_check "-h is --help" help_by_letter
no_input() {
	(cd "$work" && mkdir -p empty && cd empty && "$absolute" </dev/null 2>../messages)
	[ $? -eq 64 ] && grep -q 'no input: there is no perf.data in this directory' "$work/messages"
}
absolute=$(realpath "$program")
tap_check "without INPUT and perf.data is wrong usage" no_input

versions() {
	"$program" --version >"$work/versions" && head -1 "$work/versions" | grep -q '^ptrace2ftf [0-9]' || return 1
	for library in libipt elfutils jansson zlib libdeflate zstd liblzma; do
		grep -q "^$library [0-9]*\.[0-9.]*$" "$work/versions" || { echo "$library"; return 1; }
	done
}
tap_check "--version has the versions of the libraries" versions

tap_done
