# SPDX-License-Identifier: MIT
# Rules that slices keep whatever was recorded; input: --format=chrome --args=full.
#   an inferred slice is in no slice that was seen to begin
#   each slice that begins ends, in the reverse order, and not before it begins
# Prints "N slices, M wrong", and the first wrong ones.
function complain(text) {
	if (++wrong <= 5)
		print text
}
function field(name, end,    at, rest) {
	at = index($0, "\"" name "\":")
	if (!at)
		return ""
	rest = substr($0, at + length(name) + 3)
	match(rest, end)
	return substr(rest, 1, RSTART - 1)
}
!/^\{"ph":"[BE]"/ { next }
{
	track = field("pid", ",") "/" field("tid", ",")
	text = field("ts", "[,}]")
	# Microseconds: awk's numbers hold 15 digits.
	whole = text
	sub(/\..*/, "", whole)
	if (!origin)
		origin = substr(whole, 1, length(whole) - 6)
	time = (substr(whole, 1, length(whole) - 6) - origin) * 1000000 + substr(text, length(whole) - 5)
}
time < last[track] { complain("earlier than the event before: " $0) }
{ last[track] = time }
/^\{"ph":"B"/ {
	total++
	inferred = /"inferred_start_time":true/
	if (inferred && depth[track] && !was_inferred[track, depth[track]])
		complain("inferred, in a slice that was seen to begin: " $0)
	was_inferred[track, ++depth[track]] = inferred
	next
}
{
	if (!depth[track])
		complain("an end too many: " $0)
	else
		depth[track]--
}
END {
	for (track in depth)
		if (depth[track])
			complain(depth[track] " slices without an end: " track)
	print total + 0 " slices, " wrong + 0 " wrong"
	exit wrong > 0
}
