# SPDX-License-Identifier: MIT
# Rules that slices keep whatever was recorded; input: what ftfdump prints of a trace with --args=full.
#   an inferred slice is in no slice that was seen to begin
#   each slice that begins ends, in the reverse order, and not before it begins
# Prints "N slices, M wrong", and the first wrong ones.  What the code must have for the slices goes
# to the file `wanted`, if it is given, for stack_code.awk:
#   load FILE FUNCTION...   one of these functions went to another stack, not marked uncertain_level
#   call FILE FUNCTION      this function is directly in a call of itself, and that in another one: more
#                           than a call within it
function complain(text) {
	if (++wrong <= 5)
		print text
}
# The value of an argument.
function field(name,    at, rest) {
	at = index($0, " " name "=")
	if (!at)
		return ""
	rest = substr($0, at + length(name) + 2)
	sub(/ .*/, "", rest)
	return rest
}
# A text in quotes after `before`.
function quoted(before,    rest) {
	rest = substr($0, index($0, before) + length(before))
	sub(/"( [a-z_]+[ =].*)?$/, "", rest)
	return rest
}
$2 != "begin" && $2 != "end" { next }
{
	track = $3
	text = $4
	# ns: awk's numbers hold 15 digits.
	if (!origin)
		origin = substr(text, 1, length(text) - 9)
	time = (substr(text, 1, length(text) - 9) - origin) * 1000000000 + substr(text, length(text) - 8)
}
time < last[track] { complain("earlier than the event before: " $0) }
{ last[track] = time }
# The file and function of a slice; a name in brackets is no function's.
function function_of(    name) {
	name = field("symbol")
	if (name == "")
		name = quoted(" " $4 " \"")
	return name ~ /^\[/ ? "[" : (/ category "/ ? quoted("\" category \"") : "") " " name
}
# The stack that began had no cause if nothing says so.
function want_cause(track) {
	if (cause[track] != "" && !marked[track] && wanted)
		print "load", cause[track] >wanted
	cause[track] = ""
}
$2 == "begin" {
	total++
	inferred = / inferred_start_time=true/
	place = function_of()
	if (depth[track] == 0) {
		want_cause(track)
		cause[track] = left_at[track] == text && at_once[track] > 1 && (left_by[track] " " place) !~ /\[/ ? left_by[track] : ""
		began[track] = text
		marked[track] = 0
	}
	if (text == began[track] && / uncertain_level=true/)
		marked[track] = 1
	if (wanted && depth[track] > 1 && place == open[track, depth[track]] &&
	    place == open[track, depth[track] - 1] && place ~ /^[^[]/ && !inferred)
		print "call", place >wanted
	open[track, depth[track] + 1] = place
	if (inferred && depth[track] && !was_inferred[track, depth[track]])
		complain("inferred, in a slice that was seen to begin: " $0)
	was_inferred[track, ++depth[track]] = inferred
	next
}
{
	if (!depth[track])
		complain("an end too many: " $0)
	else {
		# Those that end at once, and the one before: a jump may have ended it.  One that ends
		# alone is replaced by a jump.
		place = open[track, depth[track]--]
		at_once[track] = left_at[track] == text ? at_once[track] + 1 : 1
		left_by[track] = (at_once[track] > 1 ? left_by[track] : before[track]) " " place
		before[track] = place
		left_at[track] = text
	}
}
END {
	for (track in cause)
		want_cause(track)
	for (track in depth)
		if (depth[track])
			complain(depth[track] " slices without an end: " track)
	print total + 0 " slices, " wrong + 0 " wrong"
	exit wrong > 0
}
