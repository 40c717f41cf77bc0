# SPDX-License-Identifier: MIT
# The event records that ftfdump prints, as magic_trace_model.awk prints them: a process's id and
# name.  A thread that is not its process's "main" keeps its name.
/^FILE / {
	split("", process)
	print
	next
}
/^0x[0-9a-f]* kernel-object type 1 / {
	name = $0
	sub(/^[^"]*"/, "", name)
	sub(/"$/, "", name)
	process[$6] = name
}
/^0x[0-9a-f]* kernel-object type 2 / {
	of = $0
	sub(/.*process=/, "", of)
	if (process[of] != "Snapshot symbol hits")
		thread[of "/" $6] = $7 == "\"main\"" ? "" : " " $7
	else
		thread[of "/" $6] = $7 == "\"hits\"" ? "" : " " $7
}
/^0x[0-9a-f]* (begin|end|complete|instant|async|counter|flow)/ {
	split($3, id, "/")
	sub(/ [!?]! .*/, "") # what ftfdump says of it
	sub(/^[^ ]* /, "")
	kind = $1
	sub(/^[^ ]* [^ ]* /, "")
	print id[1], process[id[1]] thread[id[1] "/" id[2]], kind, $0
}
