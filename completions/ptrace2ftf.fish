# SPDX-License-Identifier: MIT
# Completion of ptrace2ftf's command line for fish.  Options come from --help=all, the
# words that one takes from the error about a wrong one, functions from the recording: nothing is listed twice.

function __ptrace2ftf_words --argument-names option
    ptrace2ftf "$option=?" 2>&1 </dev/null | sed -nE 's/.*; choose from ([^;]*).*/\1/p' |
        string replace --all , '' | string split ' '
end

# The functions that ran in the line's first recording, or in perf.data; after two seconds, none.
function __ptrace2ftf_functions
    set --local words (commandline -opc) perf.data
    for input in $words[2..]
        test -f "$input"; or continue
        timeout 2 ptrace2ftf -q -f functions --columns=calls (string match -- '--symfs=*' $words) -- $input 2>/dev/null </dev/null |
            sed -nE '1d; s/^ *[0-9]+  ([^[])/\1/p'
        return
    end
end

# Whether the line has this command; '' is none.
function __ptrace2ftf_has --argument-names command
    set --local words (commandline -opc) ''
    contains -- "$words[2]" open record list diff annotate why pack watch help; or set words[2] ''
    test "$words[2]" = "$command"
end

for command in '' open record list diff annotate why pack watch
    set --local options --command ptrace2ftf --condition "__ptrace2ftf_has '$command'"
    for line in (ptrace2ftf (string split --no-empty ' ' -- $command) --help=all 2>/dev/null | sed -nE '/^ {2,8}-/{ s/^ +//; s/  .*//; p }')
        set --local short (string match --regex --groups-only '^-(.), ' -- $line)
        set --local long (string match --regex --groups-only -- '--([a-z0-9-]+)' $line)
        set --local names --long-option $long
        test -n "$short"; and set names $names --short-option $short
        switch $line
            case '*[[]=FILE*'
                complete $options $names
            case '*=FILE*'
                complete $options $names --require-parameter
            case '*=GLOB*'
                complete $options $names --exclusive --arguments '(__ptrace2ftf_functions)'
            case '*=DIR*'
                complete $options $names --exclusive --arguments '(__fish_complete_directories)'
            case '*=*'
                complete $options $names --exclusive --arguments "(__ptrace2ftf_words --$long)"
            case '*'
                complete $options $names
        end
    end
end
# A command is the first word; `record` has another one's line after it.
set --local commands 'open record list diff annotate why pack watch clock-sync help'
complete --command ptrace2ftf --condition 'test (count (commandline -opc)) -eq 1' --arguments $commands
complete --command ptrace2ftf --condition '__ptrace2ftf_has help; and test (count (commandline -opc)) -eq 2' --no-files --arguments $commands
complete --command ptrace2ftf --condition '__ptrace2ftf_has record' --arguments '(__fish_complete_subcommand --fcs-skip=2 -p -o -f)'
