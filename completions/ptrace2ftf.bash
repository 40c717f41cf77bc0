# SPDX-License-Identifier: MIT
# Completion of ptrace2ftf's command line for bash.  Options come from --help=all, the
# words that one takes from the error about a wrong one, functions from the recording: nothing is listed twice.

# Print "-f FORMAT" and "--format FORMAT" for each option of --help=all, or "-q" for one without argument.
__ptrace2ftf_options() {
	local command=${COMP_WORDS[1]}

	[[ " open record list diff annotate why pack watch " == *" $command "* ]] || command=
	"$1" ${command:+"$command"} --help=all 2>/dev/null | sed -nE '/^ {2,8}-/{
		s/^ +//; s/  .*//
		s/^(-.), --([a-z0-9-]+)(\[?=?)(.*)$/\1\3\4\n--\2\3\4/
		p
	}' | sed -E 's/\[?=/ /; s/\]$//'
}

# Print the words that an option takes; nothing if it is not words.
__ptrace2ftf_words() {
	local wrong="$2?"

	[[ $2 == --* ]] && wrong="$2=?"
	"$1" "$wrong" 2>&1 </dev/null | sed -nE 's/.*; choose from ([^;]*).*/\1/p' | tr -d ','
}

# Print the functions that ran in the line's first recording, or in perf.data; after two seconds, nothing.
__ptrace2ftf_functions() {
	local input symfs=()

	[[ $COMP_LINE =~ --symfs[=\ ]([^\ ]+) ]] && symfs=("--symfs=${BASH_REMATCH[1]}")
	for input in "${COMP_WORDS[@]:1}" perf.data; do
		[[ -f $input ]] || continue
		timeout 2 "$1" -q -f functions --columns=calls "${symfs[@]}" -- "$input" 2>/dev/null </dev/null |
			sed -nE '1d; s/^ *[0-9]+  ([^[])/\1/p'
		return
	done
}

_ptrace2ftf() {
	local program=$1 word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
	local option='' kind='' files=-f at name commands="open record list diff annotate why pack watch clock-sync help"

	COMPREPLY=()
	if [[ ${COMP_WORDS[1]} == help ]] && ((COMP_CWORD == 2)); then
		mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$word")
		return
	fi
	# `record` and `watch` have another command's line after "--".
	if [[ ${COMP_WORDS[1]} == record || ${COMP_WORDS[1]} == watch ]]; then
		files=-cf
		for ((at = 2; at < COMP_CWORD - 1; at++)); do
			[[ ${COMP_WORDS[at]} == -- ]] || continue
			if declare -F _command_offset >/dev/null; then
				_command_offset $((at + 1))
			else
				mapfile -t COMPREPLY < <(compgen -f -- "$word")
			fi
			return
		done
	fi
	# bash breaks words at "=".
	if [[ $word == "=" ]]; then
		option=$before word=''
	elif [[ $before == "=" ]]; then
		option=${COMP_WORDS[COMP_CWORD - 2]}
	elif [[ $before == -* && $before != -- && $word != -* ]]; then
		option=$before
	fi
	if [[ -n $option ]]; then
		kind=$(__ptrace2ftf_options "$program" | awk -v option="$option" '$1 == option { print $2 }')
	elif [[ $word == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(__ptrace2ftf_options "$program" |
			awk '/^--/ { print $1 ($2 != "" ? "=" : "") }')" -- "$word")
		[[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
		return
	fi
	case $kind in
	DIR*) mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
	# Names are data of the recording: compgen -W would expand them.
	GLOB*)
		while read -r name; do
			[[ $name == "$word"* ]] && COMPREPLY+=("$(printf %q "$name")")
		done < <(__ptrace2ftf_functions "$program")
		compopt +o filenames 2>/dev/null
		;;
	FILE*) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
	'') mapfile -t COMPREPLY < <(compgen $files -- "$word") ;;
	*) mapfile -t COMPREPLY < <(compgen -W "$(__ptrace2ftf_words "$program" "$option")" -- "$word") ;;
	esac
	# A command is the first word.
	((COMP_CWORD == 1)) && mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -W "$commands" -- "$word")
	return 0
} && complete -o filenames -F _ptrace2ftf ptrace2ftf
