# SPDX-License-Identifier: MIT
# Prints "LINE INSNS" of the own costs in a file of callgrind that are in the source file named `source`.
function name(text) {
	match(text, /\([0-9]+\)/); id = substr(text, RSTART, RLENGTH)
	if (text ~ /\) /) names[id] = substr(text, RSTART + RLENGTH + 1)
	return names[id]
}
/^(cfi|cfl)=/ { name($0) }
/^f[lie]=/ { file = name($0) }
/^calls=/ { called = 1; next }
/^[0-9+*-]/ {
	line = $1 ~ /^[0-9]/ ? $1 : line + ($1 == "*" ? 0 : $1)
	if (!called && file ~ "/" source "$") own[line] += $2
	called = 0
}
END { for (line in own) print line, own[line] }
