# SPDX-License-Identifier: MIT
# Rules that slices keep whatever was recorded; input: what ftfdump prints of a trace with --args=full.
#   an inferred slice is in no slice that was seen to begin
#   each slice that begins ends, in the reverse order, and not before it begins
# Prints "N slices, M wrong", and the first wrong ones.  What the code must have for the slices goes
# to the file `wanted`, if it is given, for stack_code.awk:
#   load FILE FUNCTION...   one of the functions after the first went to another stack, which begins with the
#                           first one, not marked uncertain_level; or the last one jumped to the first one,
#                           and the others, its callees, returned at the same time
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
# ns: awk's numbers hold 15 digits.
function ns(text) {
	if (!origin)
		origin = substr(text, 1, length(text) - 9)
	return (substr(text, 1, length(text) - 9) - origin) * 1000000000 + substr(text, length(text) - 8)
}
# The file and function of a slice; a name in brackets is no function's.
function function_of(    name) {
	name = field("symbol")
	if (name == "")
		name = quoted(" " $($2 == "complete" ? 5 : 4) " \"")
	return name ~ /^\[/ ? "[" : (/ category "/ ? quoted("\" category \"") : "") " " name
}
# The stack that began had no cause if nothing says so.
function want_cause(track) {
	if (cause[track] != "" && !marked[track] && wanted)
		print "load", cause[track] >wanted
	cause[track] = ""
}
# The innermost slice ends.
function take_end(track, text,    place) {
	# Those that end at once, and the one before: a jump may have ended it.  One that ends alone is
	# replaced by a jump, and so may be the outermost of several: the others returned.
	place = open[track, depth[track]--]
	at_once[track] = left_at[track] == text ? at_once[track] + 1 : 1
	left_by[track] = (at_once[track] > 1 ? left_by[track] : before[track]) " " place
	before[track] = place
	left_at[track] = text
}
# End the slices with a known end that is not after `text`; an event at their end is beside them.
function end_whole(track, text) {
	while (depth[track] && whole[track, depth[track]] && ns(whole[track, depth[track]]) <= ns(text))
		take_end(track, whole[track, depth[track]])
}
$2 != "begin" && $2 != "end" && $2 != "complete" { next }
{
	track = $3
	text = $4
	end_whole(track, text)
}
ns(text) < last[track] { complain("earlier than the event before: " $0) }
{ last[track] = ns(text) }
$2 != "end" {
	total++
	inferred = / inferred_start_time=true/
	place = function_of()
	if (depth[track] == 0) {
		want_cause(track)
		cause[track] = left_at[track] == text && at_once[track] > 1 && (left_by[track] " " place) !~ /\[/ ? " " place left_by[track] : ""
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
	whole[track, depth[track]] = $2 == "complete" ? $5 : ""
	next
}
!depth[track] || whole[track, depth[track]] {
	complain((depth[track] ? "an end within a slice: " : "an end too many: ") $0)
	next
}
{ take_end(track, text) }
END {
	for (track in last)
		end_whole(track, "9999999999999999999")
	for (track in cause)
		want_cause(track)
	for (track in depth)
		if (depth[track])
			complain(depth[track] " slices without an end: " track)
	print total + 0 " slices, " wrong + 0 " wrong"
	exit wrong > 0
}
