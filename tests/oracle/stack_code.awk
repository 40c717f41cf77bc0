# SPDX-License-Identifier: MIT
# Compare what stack_rules.awk wants of code with the code, as objdump -d prints it:
#   objdump -d --no-show-raw-insn FILE | awk -v file=NAME -f stack_code.awk wanted -
# "load": one of the functions after the first loads the stack pointer from elsewhere than its frame, or the
# last one jumps to the first one, or to an address that is not known ("notrack": within the function).
# "call": the function calls itself, an address that is not known, or what jumps to it.
# Functions that the file does not name are left out.  Prints "N checked, M wrong".
FILENAME == ARGV[1] {
	if ($0 in wanted)
		next
	wanted[$0] = 1
	for (i = 2; i < NF; i += 2)
		if ($i == file)
			needed[$(i + 1)] = 1
	next
}
/^[0-9a-f]+ <.*>:$/ {
	name = substr($2, 2, length($2) - 3)
	known[name] = 1
	next
}
{ gsub(/\t/, " ") }
/ (call|j[a-z]+) .*</ {
	target = $NF
	gsub(/^<|@.*$|>$/, "", target)
	if ($(NF - 2) == "jmp" && target != name)
		jumped_to[target] = 1
}
!(name in needed) { next }
/ j[a-z]+ .*</ { jumps[name, target] = 1 }
/ jmp +\*/ && !/notrack/ { jumps[name, ""] = 1 }
/%rsp *(#.*)?$/ && / (mov|xchg|pop) / && !/mov +%rbp,%rsp/ { loads[name] = 1 }
/xchg +%rsp,/ { loads[name] = 1 }
/ (call|jmp) +(\*|.*,\*)/ { calls[name] = 1 }
/ call / && target == name { calls[name] = 1 }
END {
	for (line in wanted) {
		count = split(line, part, " ")
		found = all = 0
		first = part[1] == "load" ? 4 : 2
		for (i = first; i < count; i += 2) {
			if (part[i] != file || !(part[i + 1] in known))
				continue
			all += 2
			name = part[i + 1]
			found += part[1] == "load" ? name in loads : name in calls || name in jumped_to
		}
		if (!all || all < count + 1 - first)
			continue
		if (part[1] == "load")
			found += (part[count], part[3]) in jumps || (part[count], "") in jumps
		checked++
		if (!found && ++wrong <= 5)
			print "no " line
	}
	print checked + 0 " checked, " wrong + 0 " wrong"
	exit wrong > 0
}
