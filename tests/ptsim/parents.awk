# SPDX-License-Identifier: MIT
# Slices as lines "PID/TID NAME < PARENT", in order, for diff:
#   awk -f parents.awk slices
#   awk -v marks=1 -f parents.awk truth.branches truth.slices
# With marks, those that begin in a lost stretch (ovf .. ovfend, lost .. lostend)
# or within `tolerance` ns of one begin with "?".
function name_of(    text, i) {
	text = $5
	for (i = 6; i <= NF && $i !~ /^address=0x/; i++)
		text = text " " $i
	sub(/^\[syscall: .*/, "[syscall]", text)
	return text
}
# Nanoseconds relative to the first: awk's numbers hold 15 digits.
function time(text) {
	if (!origin)
		origin = substr(text, 1, length(text) - 9)
	return (substr(text, 1, length(text) - 9) - origin) * 1000000000 + substr(text, length(text) - 8)
}
function is_lost(t,    i) {
	for (i = 0; i < losses; i++)
		if (t >= loss_begin[i] - tolerance && t <= loss_end[i] + tolerance)
			return 1
	return 0
}
marks && FNR == NR {
	if ($6 == "ovf" || $6 == "lost")
		loss_begin[losses + 0] = time($1)
	else if ($6 == "ovfend" || $6 == "lostend")
		loss_end[losses++] = time($1)
	next
}
{
	name = name_of()
	level[$1, $2] = name
	print (marks && is_lost(time($3)) ? "?" : "") $1, name, "<", $2 ? level[$1, $2 - 1] : "nothing"
}
