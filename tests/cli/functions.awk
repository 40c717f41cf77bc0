# SPDX-License-Identifier: MIT
# What --format=functions and folded must print, by their definitions, of a list
# of slices (truth.slices or --format=slices): "pid/tid depth begin end name",
# sorted by thread, begin and depth.
#   -v what=functions   "name calls total self min max"
#   -v what=folded      "comm;a;b NS" (-v comm=NAME)
{
	took = $4 - $3
	depth = $2
	text = $5
	for (i = 6; i <= NF && $i !~ /^address=0x/; i++)
		text = text " " $i
	name[depth] = text
	path[depth] = (depth ? path[depth - 1] : comm) ";" text
	own[path[depth]] += took
	calls[text]++
	self[text] += took
	if (depth) {
		own[path[depth - 1]] -= took
		self[name[depth - 1]] -= took
	}
	for (k = 0; k < depth && name[k] != text; k++)
		;
	if (k == depth)
		total[text] += took
	if (calls[text] == 1 || took < least[text])
		least[text] = took
	if (took > most[text])
		most[text] = took
}
END {
	if (what == "folded") {
		for (p in own)
			if (own[p] > 0)
				print p, own[p]
	} else {
		for (n in calls)
			print n, calls[n], total[n] + 0, self[n], least[n], most[n] + 0
	}
}
