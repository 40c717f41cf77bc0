# SPDX-License-Identifier: MIT
# Compare the callers of calls with the truth, where trace is missing:
#   awk -f chains.awk TRUTH truth.slices OURS slices
# TRUTH and OURS are branches as branches.awk prints them, of one thread.  What was decoded between
# two gaps is one run of the true calls and returns, so that each call is found by its place in
# them, not by its time: in a recursion others of that name are near.  Runs that could be in
# several places are left out, and so are functions that are entered by jumps.
# All callers that a slice has must be the true ones, or one of them has uncertain_level.
# Prints "N chains compared, M wrong, K wrong below a mark", and the first wrong ones.
function is_call(kind) {
	return kind == "call" || kind == "icall"
}
function flush(    at, i) {
	if (!length(run))
		return
	at = index(all, run)
	if (at % width == 1 && !index(substr(all, at + width), run)) {
		for (i = 0; i < run_length; i++)
			place[run_begin + i] = (at - 1) / width + 1 + i
	}
	run = ""
	run_length = 0
}
function callers(    i, text) {
	for (i = $2; i >= 0; i--)
		if (level[i] !~ /^\[/)
			text = text level[i] " < "
	return text
}
function uncertain(    i) {
	for (i = $2; i >= 0; i--)
		if (mark[i])
			return 1
	return 0
}
FNR == 1 {
	part++
	split("", level)
	width = 40
}
part == 1 && (is_call($2) || $2 == "return") {
	true_to[++true_count] = is_call($2) ? $4 : ""
	chunk = chunk sprintf("%20s%20s", $3, $4)
	if (true_count % 200 == 0) {
		all = all chunk
		chunk = ""
	}
	next
}
part == 2 {
	level[$2] = $5
	true_chain[$5, ++true_slices[$5]] = callers()
	next
}
part == 3 && FNR == 1 {
	all = all chunk
}
part == 3 && (is_call($2) || $2 == "return") {
	if (!run_length)
		run_begin = count + 1
	to[++count] = is_call($2) ? $4 : ""
	run = run sprintf("%20s%20s", $3, $4)
	run_length++
	next
}
part == 3 && $2 == "gap" {
	flush()
}
part == 4 && FNR == 1 {
	flush()
}
part == 4 {
	level[$2] = $5
	mark[$2] = /uncertain_level/ ? 1 : 0
	if (/inferred_start_time/ || !match($0, / address=0x[0-9a-f]+/))
		next
	name[substr($0, RSTART + 11, RLENGTH - 11)] = $5
	chain[$5, ++slices[$5]] = callers()
	marked[$5, slices[$5]] = uncertain()
}
END {
	for (i = 1; i <= true_count; i++)
		if (true_to[i] in name)
			true_number[i] = ++true_calls[name[true_to[i]]]
	for (i = 1; i <= count; i++)
		if (to[i] in name)
			number[i] = ++calls[name[to[i]]]
	for (i = 1; i <= count; i++) {
		f = to[i] in name ? name[to[i]] : ""
		if (f == "" || !(i in place) || calls[f] != slices[f] || true_calls[f] != true_slices[f])
			continue
		compared++
		mine = chain[f, number[i]]
		if (substr(true_chain[f, true_number[place[i]]], 1, length(mine)) == mine)
			continue
		if (marked[f, number[i]])
			below++
		else if (++wrong <= 5)
			print mine "\n\tis " true_chain[f, true_number[place[i]]]
	}
	print compared + 0 " chains compared, " wrong + 0 " wrong, " below + 0 " wrong below a mark"
	exit wrong > 0 || compared < 300
}
