# SPDX-License-Identifier: MIT
# Compare truth.slices with the output of --format=slices:
#   awk -v tolerance=NS -f slices.awk truth.slices slices
# The slices of one thread, depth and name come in the order of time, so the
# first of them must be the first one's, and so on, with begin and end within
# the tolerance.  Prints "N frames compared, M wrong", and the first wrong ones.
# With -v deepest=N what lies deeper is left out, with -v only=REGEX other names are.  Instructions (truth.counts and
# --args=full) are compared if they are there, and must be the same.
function name_of(    text, i) {
	text = $5
	for (i = 6; i <= NF && $i !~ /^(address=0x|insns=)/; i++)
		text = text " " $i
	return text
}
# What the call is called is compared where it is known; PT shows no registers.
function kind_of(text) {
	sub(/^\[syscall: .*/, "[syscall]", text)
	return text
}
function insns_of(    i) {
	for (i = NF; i > 5; i--)
		if ($i ~ /^insns=/)
			return substr($i, 7) + 0
	return 0
}
function far(a, b) {
	return a - b > tolerance || b - a > tolerance
}
function complain(text) {
	if (++wrong <= 10)
		print text
}
deepest && $2 >= deepest { next }
only && name_of() !~ only { next }
# Nanoseconds relative to the first: awk's numbers hold 15 digits.
!origin { origin = substr($3, 1, length($3) - 9) }
function time(text) {
	return (substr(text, 1, length(text) - 9) - origin) * 1000000000 + substr(text, length(text) - 8)
}
FNR == NR {
	key = $1 " " $2 " " kind_of(name_of())
	k = ++truth[key]
	names[key, k] = name_of()
	begins[key, k] = time($3)
	ends[key, k] = time($4)
	insns[key, k] = insns_of()
	total++
	next
}
{
	key = $1 " " $2 " " kind_of(name_of())
	k = ++ours[key]
	if (k > truth[key])
		complain("not in the truth: " $0)
	else if (name_of() != names[key, k] && names[key, k] !~ /restart_syscall/ && name_of() != kind_of(names[key, k]))
		complain("is " names[key, k] ": " $0)
	else if (far(begins[key, k], time($3)) || far(ends[key, k], time($4)))
		complain("at another time, by " (time($3) - begins[key, k]) " and " (time($4) - ends[key, k]) " ns: " $0)
}
k <= truth[key] && insns[key, k] != insns_of() {
	complain(insns_of() - insns[key, k] " instructions too many: " $0)
}
END {
	for (key in truth)
		if (ours[key] < truth[key])
			complain((truth[key] - ours[key]) " times missing: " key)
	print total " frames compared, " wrong + 0 " wrong"
	exit wrong > 0
}
