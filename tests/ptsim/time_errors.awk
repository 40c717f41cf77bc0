# SPDX-License-Identifier: MIT
# Compare the times of a branch list with the true times, of a recording of one CPU:
#   awk -f time_errors.awk truth.branches BRANCHES
# BRANCHES is the output of `ptrace2ftf --format=branches` or of
# `perf script --itrace=b -F pid,tid,time,flags,ip,addr --ns`.
# Prints the error of each branch in ns, and last, as -N, how many of the branches that were
# executed the list lacks.
FNR == NR {
	if ($6 ~ /^(ovf|lost)/)
		next
	truth_time[++count] = $1
	truth_key[count] = $7 " " $8
	missing++
	next
}
/ => / {
	colon = index($0, ": ")
	words = split(substr($0, 1, colon - 1), head, /[\/ ]+/)
	split(head[words], time, ".")
	rest = substr($0, colon + 2)
	arrow = index(rest, " => ")
	split(substr(rest, 25, arrow - 25), from, " ")
	split(substr(rest, arrow + 4), to, " ")
	key = from[1] " " to[1]
	for (i = last + 1; i <= count && i < last + 5000; i++) {
		if (truth_key[i] != key)
			continue
		last = i
		missing--
		error = time[1] * 1000000000 + time[2] - truth_time[i]
		print error < 0 ? -error : error
		break
	}
}
END {
	print 0 - missing
}
