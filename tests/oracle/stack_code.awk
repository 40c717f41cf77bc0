# SPDX-License-Identifier: MIT
# Compare what stack_rules.awk wants of code with the code, as objdump -d prints it:
#   objdump -d --no-show-raw-insn FILE | awk -v file=NAME -f stack_code.awk wanted -
# "load": one of the functions loads the stack pointer from elsewhere than its frame.
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
/ (call|jmp) .*</ {
	target = $NF
	gsub(/^<|@.*$|>$/, "", target)
	if ($(NF - 2) == "jmp" && target != name)
		jumped_to[target] = 1
}
!(name in needed) { next }
/%rsp *(#.*)?$/ && / (mov|xchg|pop) / && !/mov +%rbp,%rsp/ { loads[name] = 1 }
/xchg +%rsp,/ { loads[name] = 1 }
/ (call|jmp) +(\*|.*,\*)/ { calls[name] = 1 }
/ call / && target == name { calls[name] = 1 }
END {
	for (line in wanted) {
		count = split(line, part, " ")
		found = all = 0
		for (i = 2; i < count; i += 2) {
			if (part[i] != file || !(part[i + 1] in known))
				continue
			all += 2
			name = part[i + 1]
			found += part[1] == "load" ? name in loads : name in calls || name in jumped_to
		}
		if (!all || all < count - 1)
			continue
		checked++
		if (!found && ++wrong <= 5)
			print "no " line
	}
	print checked + 0 " checked, " wrong + 0 " wrong"
	exit wrong > 0
}
