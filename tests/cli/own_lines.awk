# SPDX-License-Identifier: MIT
# Prints "LINE INSNS" of the own costs in a file of callgrind that are in the source file named `source`;
# with addresses "ADDRESS LINE INSNS", and "ADDRESS LINE CALLS calls".
function name(text) {
	match(text, /\([0-9]+\)/); id = substr(text, RSTART, RLENGTH)
	if (text ~ /\) /) names[id] = substr(text, RSTART + RLENGTH + 1)
	return names[id]
}
function position(text, last,    i, n) {
	if (text !~ /^0x/) return text ~ /^[0-9]/ ? text : text == "*" ? last : last + text
	for (i = 3; i <= length(text); i++) n = 16 * n + index("0123456789abcdef", substr(text, i, 1)) - 1
	return n
}
/^(cfi|cfl)=/ { name($0) }
/^f[lie]=/ { file = name($0) }
/^positions:/ { by_insn = /instr/ }
/^calls=/ { called = substr($1, 7); next }
/^[0-9+*-]/ {
	if (by_insn) { at = position($1, at); $1 = ""; $0 = substr($0, 2) }
	line = position($1, line)
	if (file ~ "/" source "$") {
		if (!called) own[by_insn ? at " " line : line] += $2
		else if (by_insn) calls[at " " line] += called
	}
	called = 0
}
END {
	for (place in own) print place, own[place]
	for (place in calls) print place, calls[place], "calls"
}
