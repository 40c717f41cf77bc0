# SPDX-License-Identifier: MIT
# Bring branch lists to one form, "TID KIND FROM TO", one line per branch:
#   awk -f branches.awk < output of `perf script -F pid,tid,time,flags,ip,addr,...`
#   awk -v truth=1 -f branches.awk < truth.branches
# Kinds: call return jmp jcc syscall async resume, and gap.  Trace that goes off
# in a syscall is "syscall", by itself "async"; trace that comes on, "resume".
# With -v symbols=1, FROM and TO carry the symbol and offset.
function place(text,    parts) {
	sub(/^ +/, "", text)
	sub(/ +$/, "", text)
	if (symbols)
		return text
	split(text, parts, " ")
	return parts[1]
}
BEGIN {
	kind_of["icall"] = "call"
	kind_of["ijmp"] = "jmp"
	kind_of["ret"] = "return"
}
truth && $6 == "ovfend" {
	print $5, "resume", 0, $8
	next
}
truth {
	kind = $6 in kind_of ? kind_of[$6] : $6
	print $5, kind, $7, $8
	next
}
/instruction trace error/ {
	match($0, / tid [0-9-]+/)
	print substr($0, RSTART + 5, RLENGTH - 5), "gap", 0, 0
	next
}
/ => / {
	head = substr($0, 1, index($0, ": ") - 1)
	split(head, ids, /[\/ ]+/)
	tid = head
	sub(/^ *[0-9-]+\//, "", tid)
	sub(/ .*/, "", tid)
	rest = substr($0, index($0, ": ") + 2)
	flags = substr(rest, 3, 21)
	sub(/ +$/, "", flags)
	arrow = index(rest, " => ")
	from = place(substr(rest, 25, arrow - 25))
	to = place(substr(rest, arrow + 4))
	if (!exact) {
		if (flags ~ /^tr strt/)
			flags = "resume"
		else if (flags == "tr end  async" || flags == "tr end")
			flags = "async"
		else if (flags ~ /^tr end/)
			flags = substr(flags, 9)
	}
	print tid, flags, from, to
}
