# SPDX-License-Identifier: MIT
# The arrows of --stacks=flows, bound as Perfetto does it:
#   ftfdump FILE | awk -f flows.awk
# Each end of an arrow belongs to the slice on top of its thread's stack, where a complete slice or
# an instant stays until the next begin or end: so there must be none.  Prints "LEFT ENTERED" of
# each arrow; "WRONG ..." if one has not exactly one begin and one end, on one thread, in order.
function name(    text) {
	text = $0
	sub(/^[^"]*"/, "", text)
	sub(/".*/, "", text)
	return text
}
$2 == "begin" { stack[$3, ++depth[$3]] = name() }
$2 == "end" { depth[$3]-- }
$2 == "complete" || $2 == "instant" { print "WRONG " $0 }
$2 == "flow-begin" {
	if ($NF in left || !depth[$3])
		print "WRONG " $0
	left[$NF] = stack[$3, depth[$3]]
	thread[$NF] = $3
	time[$NF] = $4
}
$2 == "flow-end" {
	if (!($NF in left) || ended[$NF]++ || !depth[$3] || thread[$NF] != $3 || time[$NF] > $4)
		print "WRONG " $0
	print left[$NF], stack[$3, depth[$3]]
}
END {
	for (id in left)
		if (!ended[id])
			print "WRONG no end of " id
}
