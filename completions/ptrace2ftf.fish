# SPDX-License-Identifier: MIT
# Completion of ptrace2ftf's command line for fish.  Options come from --help=all, the
# words that one takes from the error about a wrong one: nothing is listed twice.

function __ptrace2ftf_words --argument-names option
    ptrace2ftf "$option=?" 2>&1 </dev/null | sed -nE 's/.*; choose from ([^;]*).*/\1/p' |
        string replace --all , '' | string split ' '
end

for line in (begin
        ptrace2ftf --help=all
        ptrace2ftf record --help=all
        ptrace2ftf diff --help=all
    end 2>/dev/null | sort --unique | sed -nE '/^ {2,8}-/{ s/^ +//; s/  .*//; p }')
    set --local short (string match --regex --groups-only '^-(.), ' -- $line)
    set --local long (string match --regex --groups-only -- '--([a-z0-9-]+)' $line)
    set --local names --long-option $long
    test -n "$short"; and set names $names --short-option $short
    switch $line
        case '*[[]=FILE*'
            complete --command ptrace2ftf $names
        case '*=FILE*'
            complete --command ptrace2ftf $names --require-parameter
        case '*=DIR*'
            complete --command ptrace2ftf $names --exclusive --arguments '(__fish_complete_directories)'
        case '*=*'
            complete --command ptrace2ftf $names --exclusive --arguments "(__ptrace2ftf_words --$long)"
        case '*'
            complete --command ptrace2ftf $names
    end
end
# A command is the first word.
complete --command ptrace2ftf --condition 'test (count (commandline -opc)) -eq 1' --arguments 'open record list diff clock-sync help'
