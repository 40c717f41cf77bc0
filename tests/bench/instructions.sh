#!/bin/sh
# SPDX-License-Identifier: MIT
# instructions.sh SOURCE: tables of instructions, of one thread, by callgrind; also on a busy machine.
# Run by bench.sh.
# shellcheck disable=SC2030,SC2031,SC2046,SC2086,SC2154 # options in words; variables of measure.sh
set -eu
source=$1
. "$source/tests/bench/measure.sh"
there valgrind "instructions" || exit 0
cpus=$(nproc) running=0
symfs="" part=""

# Counts of a row run beside each other: a busy machine does not change them.
count() { # NAME COMMAND...: millions of instructions, of all its processes, for value()
	name=$1
	shift
	rm -f "$work/$name.count"
	(
		log=$work/$name
		must valgrind --tool=callgrind --log-file="$log.valgrind" --callgrind-out-file=/dev/null "$@"
		sed -n 's/^==.*Collected : \([0-9]*\).*/\1/p' "$log.valgrind" |
			awk '{ sum += $1 } END { if (sum) printf "%.1f", sum / 1e6 }' >"$work/$name.count"
	) &
	running=$((running + 1))
	[ $((running % cpus)) -ne 0 ] || wait
}

value() { # NAME: sets $value
	wait
	[ -s "$work/$1.count" ] || fail "no instructions of $1, for the reason above"
	value=$(cat "$work/$1.count")
}

ours() { # NAME OPTIONS...
	name=$1
	shift
	rm -f "$work/$name.out"
	case $* in
	--format=none*) ;;
	*) set -- "$@" -o "$work/$name.out" ;;
	esac
	count "$name" $program -j1 ${symfs:+--symfs="$symfs"} $part "$@" "$recording"
}

add() { # NAME...: cells of millions
	for name; do
		value "$name"
		cells="$cells | $value"
	done
}

columns() { # TITLE COLUMNS
	printf '\n%s\n\n| recording | %s |\n|---|' "$1" "$2"
	echo "$2" | sed 's/[^|]*/---/g; s/$/|/'
}

row() { # TITLE
	printf '| %s%s |\n' "$(in_words "$1" "$recording")" "$cells"
	cells=
}

# ---- Decoders -------------------------------------------------------------------

# ptxed passes over what it cannot decode, so its share of our instructions is a cell, too.
by_ptxed() { # TITLE
	if ! there "$ptxed" "ptxed -q (PTXED)"; then
		cells="$cells | - | -"
		return
	fi
	must $program --format=none --json="$work/json" -q ${symfs:+--symfs="$symfs"} "$recording"
	mine=$(awk '/"instructions":/ { sum += $2 } END { print sum }' "$work/json")
	must "$ptxed" -q $(cat "$work/parts.options") --stat:insn
	theirs=$(sed -n 's/^insn: *\([0-9]*\).*/\1/p' "$log.output")
	count ptxed "$ptxed" -q $(cat "$work/parts.options") --stat:insn
	add ptxed
	cells="$cells | $(quotient "$((100 * theirs))" "$mine" "%.0f %%")"
}

by_libxdc() { # TITLE: it stops at packets with times
	if ! there "$xdc" "libxdc (XDC_TESTER)"; then
		cells="$cells | -"
		return
	fi
	set -- "$1" "$xdc" 1000 7fffffffffff "$work/parts" "$work/parts.pt" 0 simple
	title=$1
	shift
	"$@" >"$log.output" 2>&1 || true
	if grep -q decoder_success "$log.output"; then
		accepted=1 # its status
		count xdc "$@"
		accepted=0
		add xdc
	else
		leave_out "$title: libxdc: $(grep -o 'decoder_[a-z_]*' "$log.output" | tail -n 1)"
		cells="$cells | -"
	fi
}

decoders() { # TITLE
	ours none --format=none
	ours ftf
	add none ftf
	if decoders_parts "$1" "$recording" "$symfs"; then
		by_ptxed "$1"
		by_libxdc "$1"
	else
		cells="$cells | - | - | -"
	fi
	row "$1"
}

# ---- Options, text --------------------------------------------------------------

options() { # TITLE: ratios to the .ftf without them
	threads=$(./ptrace2ftf list --json "$recording" | sed -n 's/.*"tid": \([0-9]*\),*$/\1/p' | sort -u | paste -sd,)
	ours ftf
	ours args-none --args=none
	ours args-full --args=full
	ours counters --counters=1us
	ours tid --tid="$threads"
	ours magic-trace --stacks=magic-trace
	ours symbol --symbol='*'
	ours fit --fit=1000
	add ftf
	ftf=$value
	for name in args-none args-full counters tid magic-trace symbol fit; do
		value "$name"
		cells="$cells | $(quotient "$value" "$ftf" %.2f)"
	done
	row "$1"
}

formats() { # TITLE
	for format in none ftf branches calls chrome slices; do
		ours "$format" --format="$format"
	done
	add none ftf branches calls chrome slices
	row "$1"
}

# ---- Small recordings, many pieces ----------------------------------------------

small() { # TITLE
	rm -rf "$XDG_CACHE_HOME"
	for name in no-cache first second args-none; do
		rm -f "$work/small.ftf"
		case $name in
		first | second) option= ;;
		*) option=--$name ;;
		esac
		count "$name" $program -j1 $(echo $option | sed 's/args-none/args=none/') "$recording" -o "$work/small.ftf"
		add "$name"
	done
	rm -rf "$XDG_CACHE_HOME" "$work/batch" "$work/traces"
	mkdir "$work/batch"
	for i in $(seq 20); do
		ln -s "$recording" "$work/batch/$i"
	done
	count batch $program -j1 --jobs=1 "$work"/batch/* -o "$work/traces/"
	value batch
	cells="$cells | $(quotient "$value" 20 %.1f)"
	rm -rf "$XDG_CACHE_HOME" "$work/batch" "$work/traces"
	row "$1"
}

pieces() { # COUNT...
	symfs=$work/sample
	mkdir "$symfs"
	must tests/support/make-sample "$symfs"
	for pieces; do
		recording=$work/pieces-$pieces
		must tests/scale/make-scale pieces "$pieces" "$recording"
		ours "pieces-$pieces" --format=none
	done
	for pieces; do
		value "pieces-$pieces"
		echo "| $pieces | $value | $(quotient "$value" "0.$(printf %06d "$pieces")" %.0f) |"
		rm "$work/pieces-$pieces"
	done
}

# ---- The tables -----------------------------------------------------------------

tail=$work/tail own=$work/own loop=$work/loop four=$work/four start=$work/start longer=$work/longer
record tail --per-thread -- tests/programs/static/tail
record own --per-thread -- ./ptrace2ftf --version
cache_lines "$own"
record_loop loop 1048576
record four --cpus=4 --cyc -- tests/bench/four-threads
if there "$python" "recordings of python3"; then
	record_python start --instructions=1700000
	record_python longer --instructions=2000000 --repeat=2097152
	cache_lines "$start"
	cache_lines "$longer"
fi

# of RECORDING [SYMFS PART]: sets what the tables read; whether there is the recording
of() {
	recording=$1 symfs=${2:-} part=${3:+--time=$3} cells=
	[ -f "$recording" ]
}
rr=$recordings/rr-alderlake/perf.data rr_files=$recordings/rr-alderlake/symfs
sqlite=$recordings/truth/big-sqlite/perf.data truth_files=$recordings/truth/symfs
mruby=$shared/more/xdc-mruby/recording mruby_files=$shared/more/xdc-mruby/symfs
[ -d "$recordings" ] || leave_out "rr-alderlake, big-sqlite, xdc-mruby: no ../shared beside the source"

columns "Millions of instructions, one thread; ptxed passes over parts, so its share of the program's instructions follows:" \
	"none | .ftf | ptxed -q | share | libxdc"
of "$tail" && decoders "a small program"
of "$own" && decoders "\`ptrace2ftf --version\`, with its debug information"
of "$loop" && decoders "a loop, MTC"
of "$four" && decoders "four threads on four CPUs, CYC"
of "$longer" && decoders "start of python3, CYC"
of "$rr" "$rr_files" && decoders "rr-alderlake"
of "$sqlite" "$truth_files" && decoders "big-sqlite"
of "$mruby" "$mruby_files" && decoders "xdc-mruby, no times"

columns "Options, as ratios to the .ftf; tid chooses all threads:" \
	".ftf | args=none | args=full | counters=1us | tid | magic-trace | symbol=* | fit=1000"
of "$loop" && options "a loop, MTC"
of "$four" && options "four threads on four CPUs, CYC"
of "$longer" && options "start of python3, CYC"
of "$rr" "$rr_files" 0%,10% && options "the first tenth of rr-alderlake"
of "$sqlite" "$truth_files" 50%,60% && options "a tenth of big-sqlite"
of "$mruby" "$mruby_files" && options "xdc-mruby, no times"

columns "Formats, millions of instructions:" "none | .ftf | branches | calls | chrome | slices"
of "$own" && formats "\`ptrace2ftf --version\`"
of "$start" && formats "start of python3, CYC"
of "$rr" "$rr_files" 0%,2% && formats "the first fiftieth of rr-alderlake"
of "$sqlite" "$truth_files" 50%,51% && formats "a hundredth of big-sqlite"

columns "Small recordings, millions of instructions for each; the batch begins without a cache:" \
	"--no-cache | first conversion | second | --args=none | batch of 20"
of "$tail" && small "a small program"
of "$own" && small "\`ptrace2ftf --version\`"
of "$start" && small "start of python3, CYC"

printf '\nPieces of the AUX buffer (make-scale pieces, 168 bytes each), to none:\n\n'
echo "| pieces | millions of instructions | instructions a piece |"
echo "|---|---|---|"
pieces 2500 20000 80000
