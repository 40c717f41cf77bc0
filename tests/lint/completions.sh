#!/bin/sh
# SPDX-License-Identifier: MIT
# The shells complete the options that --help lists, and the words that they take.
. "${top_srcdir:-.}/tests/support/tap.sh"
manual=${top_srcdir:-$PWD}/man/ptrace2ftf.7
completions=${top_srcdir:-$PWD}/completions
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/directory"
ln -s "${top_builddir:-$PWD}/ptrace2ftf" "$work/bin/ptrace2ftf"
PATH=$work/bin:$PATH
cd "$work" || exit 1
: >file
ptrace2ftf --help=all | grep -oE -- '--[a-z][a-z0-9-]+' | sort -u >help
# From the manual: it lists a format per item of a list of its own.
sed -n '/^\.Sh FORMATS/,/^\.Ss/s/^\.It Cm //p' "$manual" | sort -u >formats

same() { # FILE COMMAND...
	wanted=$1
	shift
	"$@" >got 2>messages
	sort -u got | diff "$wanted" - && [ -s "$wanted" ] && return 0
	cat messages
	return 1
}

# In place of files.
offers_commands() { # COMMAND...: completes after `help`
	"$@" >got
	[ "$(sort -u got | tr '\n' ' ')" = "annotate clock-sync diff help list open pack record watch why " ] && return 0
	cat got
	return 1
}

in_bash() { # WORDS...: the last one is completed
	bash -c '. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _ptrace2ftf ptrace2ftf
		printf "%s\n" "${COMPREPLY[@]}"' "$completions/ptrace2ftf.bash" ptrace2ftf "$@"
}
bash_options() {
	in_bash -- | sed 's/=$//'
}
bash_directories() {
	[ "$(in_bash --symfs = | sort | tr '\n' ' ')" = "bin directory " ] && in_bash -q '' | grep -qx file
}
bash_commands() {
	: >openly
	[ "$(in_bash op | sort | tr '\n' ' ')" = "open openly " ] && in_bash '' | grep -qx clock-sync &&
		[ "$(in_bash -q op)" = openly ]
}
bash_commands_options() {
	in_bash record --st | grep -qx -- --start-at= && ! in_bash --st | grep -qx -- --start-at= && in_bash list -- | grep -qx -- --time= &&
		in_bash why --sl | grep -qx -- --slow= && ! in_bash annotate --sl | grep -qx -- --slow=
}
bash_programs() {
	in_bash record -- gzi | grep -qx gzip && in_bash record gzi | grep -qx gzip && in_bash record -- gzip fil | grep -qx file &&
		! in_bash list gzi | grep -qx gzip
}
# The functions of a recording; one has a name that a shell would run.
"${top_builddir:-$PWD}/tests/support/make-sample" bin
mkdir bin/other && LC_ALL=C sed 's/leaf/`>x`/' bin/sample >bin/other/sample
bash_functions() {
	[ "$(COMP_LINE='ptrace2ftf --symfs=bin' in_bash bin/perf.data --symbol = le)" = leaf ] &&
		[ "$(COMP_LINE='ptrace2ftf --symfs bin' in_bash why bin/perf.data --within ma)" = main ] || return 1
	COMP_LINE='ptrace2ftf --symfs=bin/other' in_bash bin/perf.data --symbol = '' >got
	[ "$(grep x got)" = '\`\>x\`' ] && [ ! -e x ]
}
if command -v bash >/dev/null; then
	tap_check "bash completes the options of a command" bash_commands_options
	tap_check "bash completes commands, as the first word" bash_commands
	tap_check "bash completes the command of help" offers_commands in_bash help ''
	tap_check "bash completes the program of record" bash_programs
	tap_check "bash completes all options" same help bash_options
	tap_check "bash completes the words of --format=" same formats in_bash --format =
	tap_check "bash completes the words of -f" same formats in_bash -q -f ''
	tap_check "bash completes directories and files" bash_directories
	tap_check "bash completes functions of the recording" bash_functions
else
	tap_skip "bash completes all options" "no bash"
fi

# A terminal of zsh's own, whose Tab prints what it would offer.
cat >zsh-line <<'END'
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z "PROMPT= RPROMPT=; stty -echo; fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -D"
zpty -w z 'compadd() {
	local -a hits
	if [[ " ${@[1,(i)(-|--)]} " != *" -"[OAD]" "* ]]; then
		builtin compadd -O hits "$@"
		print -l -- "HI""T "$^hits
	fi
	builtin compadd "$@"
}
zle -C offer complete-word offer_; offer_() { _main_complete; print EN""D; exit }
bindkey "^I" offer; print RE""ADY'
zpty -r z line '*READY*'
zpty -w -n z "$2"$'\t'
while zpty -r z line && [[ $line != *END* ]]; do
	[[ $line != *HIT\ * ]] || print -r -- ${${line##*HIT }%%[$'\r\n']*}
done
zpty -d z
END
in_zsh() { # LINE
	timeout 60 zsh -f zsh-line "$completions" "$1" | sort -u
}
zsh_options() {
	in_zsh 'ptrace2ftf --'
}
zsh_words() { # LINE WORD...: all and only these
	line=$1
	shift
	in_zsh "$line" >got
	printf '%s\n' "$@" | diff - got
}
zsh_lines() {
	zsh_words 'ptrace2ftf open' open openly && zsh_words 'ptrace2ftf --symfs=' bin directory &&
		zsh_words 'ptrace2ftf record --st' --stacks --start-at --strip-prefix && zsh_words 'ptrace2ftf --st' --stacks --strip-prefix &&
		zsh_words 'ptrace2ftf record -q -- gzi' gzip && zsh_words 'ptrace2ftf record -- gzip fil' file && zsh_words 'ptrace2ftf why --sl' --slow
}
: >openly
if ! command -v zsh >/dev/null; then
	tap_skip "zsh completes all options" "no zsh"
elif ! zsh -f -c 'zmodload zsh/zpty && zpty z true' 2>/dev/null; then
	tap_skip "zsh completes all options" "no pseudo terminal"
else
	tap_check "zsh completes all options" same help zsh_options
	tap_check "zsh completes the words of --format=" same formats in_zsh 'ptrace2ftf --format='
	tap_check "zsh completes the words of -f" same formats in_zsh 'ptrace2ftf -q -f '
	tap_check "zsh completes the command of help" offers_commands in_zsh 'ptrace2ftf help '
	tap_check "zsh completes functions of the recording" zsh_words 'ptrace2ftf --symfs=bin bin/perf.data --symbol=le' leaf
	tap_check "zsh completes commands, their options, directories, and the program of record" zsh_lines
fi

in_fish() { # LINE
	HOME=$work fish --no-config -c "source $completions/ptrace2ftf.fish; complete -C '$1'" | cut -f1
}
fish_options() {
	in_fish 'ptrace2ftf --' | sed 's/=$//'
}
if command -v fish >/dev/null; then
	tap_check "fish completes all options" same help fish_options
	reads_options_only() {
		[ -z "$(in_fish 'ptrace2ftf --' 2>&1 >/dev/null)" ]
	}
	tap_check "fish takes no line of an option's help for an option" reads_options_only
	tap_check "fish completes the words of --format=" same formats in_fish 'ptrace2ftf -f '
	# fish 4 adds options that contain the letters.
	fish_lines() {
		[ "$(in_fish 'ptrace2ftf record --st' | grep ^--st | tr '\n' ' ')" = "--stacks --start-at --strip-prefix " ] &&
			[ "$(in_fish 'ptrace2ftf --st' | grep ^--st | tr '\n' ' ')" = "--stacks --strip-prefix " ] &&
			in_fish 'ptrace2ftf record -q -- gzi' | grep -qx gzip && in_fish 'ptrace2ftf why --sl' | grep -qx -- --slow && in_fish 'ptrace2ftf ope' | grep -qx open
	}
	fish_functions() {
		[ "$(in_fish 'ptrace2ftf --symfs=bin bin/perf.data --symbol=le' | sed 's/.*=//')" = leaf ]
	}
	tap_check "fish completes functions of the recording" fish_functions
	tap_check "fish completes the command of help" offers_commands in_fish 'ptrace2ftf help '
	tap_check "fish completes commands, their options, and the program of record" fish_lines
else
	tap_skip "fish completes all options" "no fish"
fi
tap_done
