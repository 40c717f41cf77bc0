# SPDX-License-Identifier: MIT
# The records of magic-trace 1.0 for text of perf script, a line each:
#	ID PID/TID KIND TIME [END] "NAME" ARGUMENTS
#	awk [-v mode=user|kernel|both] [-v lines=FILE] -f magic_trace_model.awk SCRIPT...
# With several scripts, "FILE NAME" is in front of each one's records.  `lines` has where functions
# begin in the source (function_lines.awk).
# Where magic-trace ends the run, ptrace2ftf(7) says what happens: a pair of kind and state that
# cannot be has no kind, an end before its begin is the begin, a time before the first is 0, and a
# transaction's branches wait for its end.  Of text with hits, see hit().

# What a branch does, by its kind and state: a row of
#	here NAME   a call of NAME, without a place      call    a call of the target
#	back        a return                             reach   the target must be the innermost
#	aside       begin another stack                  restore take the last one that is aside
#	clear       return from all of the stack         resume  tracing restarts
BEGIN {
	does["call"] = does["call end"] = "call"
	does["end"] = "here [untraced]"
	does["start"] = "resume"
	does["syscall end"] = "here [syscall]"
	does["return end"] = "here [returned]"
	does["return"] = "back reach"
	does["jump"] = "reach"
	does["syscall"] = does["interrupt"] = "aside call"
	does["iret end"] = does["sysret end"] = "clear here [untraced]"
	does["iret"] = does["sysret"] = "clear restore"
	while (lines != "" && (getline text <lines) > 0) {
		split(text, part, "\t")
		place[part[1]] = " line=" part[2] " col=" part[3]
		file[part[1]] = " file=" part[4]
	}
}

# ---- Time: what happens at one time shares it -------------------------------------------------

# An item is a letter and a record whose time is "@": of a Call, the End of a frame, or a frame that
# was Found late; or the begin of a slice that was Never seen to begin.
function add(t, time, item) {
	if (time != at[t])
		spread(t, time)
	items[t, waiting[t]++] = item
}

# Calls share the time up to the next one; the others take none.
function spread(t, next_at,  i, calls, time, rest, share) {
	for (i = 0; i < waiting[t]; i++)
		calls += items[t, i] ~ /^C/
	time = at[t]
	rest = next_at - time
	for (i = 0; i < waiting[t]; i++) {
		write(t, time, items[t, i])
		if (items[t, i] !~ /^C/)
			continue
		share = int(rest / calls--)
		rest -= share
		time += share
	}
	waiting[t] = 0
	at[t] = next_at
}

# Outer frames are found last and come first, at the end of the segment; so do calls of time 0.
function write(t, time, item,  record) {
	record = substr(item, 2)
	if (item ~ /^N/)
		record = "complete " number(record) " " number(time < record + 0 ? record : time) \
			" \"[unknown]\""
	else # sub() of mawk is slow
		record = substr(record, 1, index(record, "@") - 1) number(time) \
			substr(record, index(record, "@") + 1)
	record = id[t] " " t " " record
	if (item ~ /^[FN]/)
		outer[t, ++outers[t]] = record
	else if (item ~ /^C/ && time == 0)
		initial[t, ++initials[t]] = record
	else
		print record
}

function number(n) {
	return sprintf("%.0f", n < 0 ? 0 : n)
}

# ---- Frames: all stacks of a thread in one array, those aside below `floor` --------------------

# `from`: the name and where it begins in its page, as `lines` has it.
function begin_record(name, address, from, late) {
	return "begin @ \"" name "\" address=0x" address place[from] " symbol=" name file[from] \
		(late ? " inferred_start_time=true" : "")
}

function push(t, name) {
	frames[t, ++depth[t]] = name
}

function call(t, time, name, address, from) {
	add(t, time, "C" begin_record(name, address, from))
	push(t, name)
}

function pop(t, time) {
	if (depth[t] > floor[t])
		add(t, time, "Eend @ \"" frames[t, depth[t]--] "\"")
	else
		add(t, time, "N" since[t])
}

function clear(t, time) {
	while (depth[t] > floor[t])
		pop(t, time)
}

# OCaml's runtime asks for a frame's descriptor once for each frame that an exception will pass.
function back(t, time,  name, more) {
	name = depth[t] > floor[t] ? frames[t, depth[t]] : ""
	if (name == "caml_next_frame_descriptor")
		asked[t]++
	if (name == "caml_raise_exn" || name == "caml_raise_exception") {
		more = asked[t] + (name == "caml_raise_exn" ? -1 : 2)
		asked[t] = 0
	}
	for (; more > 0; more--)
		pop(t, time)
	pop(t, time)
}

function reach(t, time, name, address, from) {
	if (depth[t] == floor[t]) {
		write(t, since[t], "F" begin_record(name, address, from, 1))
		push(t, name)
	} else if (frames[t, depth[t]] != name) {
		pop(t, time)
		call(t, time, name, address, from)
	}
}

# An unseen frame has run since the entry of the kernel, or the last error.
function renew(t, time, address) {
	since[t] = address ~ /^[89a-f]...............$/ ? time : failed[t]
}

function restore(t, time, name, address, from,  part) {
	if (aside[t] == "") {
		renew(t, time, address)
		reach(t, time, name, address, from)
		return
	}
	split(aside[t], part, " ")
	floor[t] = part[1]
	since[t] = part[2]
	sub(/^[^ ]* [^ ]* /, "", aside[t])
}

# All slices end.  The items that wait then are at the time of the last ones before.
function end_all(t, time,  last, i) {
	last = at[t]
	for (i = outers[t]; i; i--)
		print outer[t, i]
	for (i = 1; i <= initials[t]; i++)
		print initial[t, i]
	outers[t] = initials[t] = 0
	clear(t, time)
	while (aside[t] != "") {
		restore(t)
		clear(t, time)
	}
	spread(t, last)
}

# ---- Events ----------------------------------------------------------------------------------

# Returns when an event happens: not at the time of the last error, nor of the thread's first event.
function moment(t, time) {
	if (!(t in seen)) {
		order[++threads] = t
		id[t] = 2 * threads - 1 # the thread has the next one
		floor[t] = depth[t] = waiting[t] = asked[t] = at[t] = outers[t] = initials[t] = 0
		aside[t] = ""
		since[t] = failed[t] = seen[t] = time == "" ? 0 : time
	}
	if (time == "")
		time = seen[t]
	seen[t] = time
	return time + (time == failed[t] && time != 0)
}

function error(t, time, address, message) {
	time = moment(t, time)
	print id[t], t, "complete", number(time), number(time), "\"[decode error: " message "]\""
	end_all(t, time)
	failed[t] = time
	renew(t, time, address)
}

function branch(t, time, kind, state, address, name, from,  word, count, i) {
	time = moment(t, time)
	if (kind != "" && state == "start" || kind ~ /^(interrupt|jump)$/ && state == "end")
		kind = ""
	count = split(does[kind (kind != "" && state != "" ? " " : "") state], word, " ")
	for (i = 1; i <= count; i++) {
		if (word[i] == "call")
			call(t, time, name, address, from)
		else if (word[i] == "here")
			call(t, time, word[++i], "0")
		else if (word[i] == "back")
			back(t, time)
		else if (word[i] == "reach")
			reach(t, time, name, address, from)
		else if (word[i] == "clear")
			clear(t, time)
		else if (word[i] == "restore")
			restore(t, time, name, address, from)
		else if (word[i] == "aside") {
			aside[t] = floor[t] " " since[t] " " aside[t]
			floor[t] = depth[t]
			renew(t, time, address)
		} else if (mode == "kernel") {
			clear(t, time)
			renew(t, time, address)
		} else if (depth[t] == floor[t])
			call(t, time, name, address, from)
		else
			back(t, time)
	}
}

# ---- Text ------------------------------------------------------------------------------------

# Returns ns since the run's first event; seconds alone may be more than a number holds.
function since_base(seconds, fraction, zero) {
	fraction = substr(fraction "000000000", 1, 9)
	if (!based) {
		based = 1
		base = zero ? 0 : seconds
		base_fraction = zero ? 0 : fraction
	}
	return (seconds - base) * 1000000000 + fraction - base_fraction
}

function named(pid, tid) {
	return (pid > 0 ? pid + 0 : "?") "/" (tid > 0 ? tid + 0 : "?")
}

# Branches of a transaction are held, packed in lines.
function deliver(t,  line, part, count, i) {
	count = split(held[t], line, "\n")
	held[t] = ""
	for (i = 1; i < count; i++) {
		split(line[i], part, "\t")
		branch(t, part[1] + 0, part[2], part[3], part[4], part[5], part[6])
	}
}

function read_error(  field, i, part, t, message, timed) {
	for (i = 1; i < NF && !("code" in field); i++)
		if ($i ~ /^(time|pid|tid|ip|code)$/)
			field[$i] = $(i + 1)
	sub(/^0x/, "", field["ip"])
	message = $0
	sub(/^.* code [0-9]+: /, "", message)
	t = named(field["pid"], field["tid"])
	held[t] = ""
	timed = split(field["time"], part, ".")
	i = since_base(part[1], part[2], 1)
	error(t, timed ? i : "", field["ip"], message)
}

# Returns the last three digits of an address less an offset.
function in_page(address, offset) {
	return lines == "" ? "" : sprintf("%03x", (low(address) - low(offset) + 4096) % 4096)
}

function low(text,  n, i) {
	sub(/ *$/, "", text)
	for (i = length(text) > 3 ? length(text) - 2 : 1; i <= length(text); i++)
		n = n * 16 + index("123456789abcdef", substr(text, i, 1))
	return n
}

function read_branch(  part, t, time, text, flags, address, name, from, state, in_tx) {
	split($1, part, "/")
	t = named(part[1], part[2])
	match($0, /[0-9]+\.[0-9]+: +/)
	text = substr($0, RSTART + RLENGTH)
	split(substr($0, RSTART, RLENGTH), part, "[.:]")
	sub(/^[0-9]+ +branches[^ ]* +/, "", text)
	# Two blanks, or the begin of the line, are before the first address.
	flags = text
	if (!sub(/   *[0-9a-f]+ .*/, "", flags))
		return
	while (match(text, /=> +[0-9a-f]+ /)) {
		address = substr(text, RSTART + 2, RLENGTH - 3)
		text = substr(text, RSTART + RLENGTH)
	}
	if (address == "")
		return
	sub(/^ */, "", address)
	sub(/ \([^()]*\)$/, "", text)
	name = "[unknown]"
	if (match(text, /\+0x[0-9a-f]+ *$/)) {
		name = substr(text, 1, RSTART - 1)
		from = name " " in_page(address, substr(text, RSTART + 3))
	}
	in_tx = sub(/ *\(x\)/, "", flags)
	state = (sub(/^tr strt */, "", flags) ? "start" : "") (sub(/^tr end */, "", flags) ? "end" : "")
	if (state == "startend")
		state = ""
	sub(/ +$/, "", flags)
	if (flags == "async" || state == "start" && flags == "jmp")
		flags = ""
	time = since_base(part[1], part[2])
	if (flags == "tx abrt") {
		held[t] = ""
		in_tx = 0
	}
	if (flags == "int" && state == "end")
		flags = ""
	sub(/^(jmp|jcc|int|tx abrt)$/, "jump", flags)
	sub(/^hw int$/, "interrupt", flags)
	if (in_tx) {
		held[t] = held[t] time "\t" flags "\t" state "\t" address "\t" name "\t" from "\n"
		return
	}
	deliver(t)
	branch(t, time, flags, state, address, name, from)
}

# A hit of a breakpoint, without registers: "PID/TID TIME: PERIOD mem:0xADDRESS:x:u: IP NAME+0xOFFSET".
function hit(  part, name, time) {
	match($0, /[0-9]+\.[0-9]+:/)
	split(substr($0, RSTART, RLENGTH), part, "[.:]")
	time = since_base(part[1], part[2])
	name = $NF
	sub(/\+0x[0-9a-f]*$/, "", name)
	split($1, part, "/")
	print "4194305 Snapshot symbol hits complete", number(time), number(time), "\"hit " name "\" timestamp=" \
		absolute() " tid=" part[2] " ip=0x" $(NF - 1)
}

function absolute(  part) {
	match($0, /[0-9]+\.[0-9]+:/)
	split(substr($0, RSTART, RLENGTH), part, "[.:]")
	return part[1] substr(part[2] "000000000", 1, 9)
}

function end_of_text(  i) {
	for (i = 1; i <= threads; i++)
		end_all(order[i], seen[order[i]])
	threads = based = 0
	split("", seen)
	split("", held)
}

FNR == 1 {
	end_of_text()
	if (ARGC > 2) {
		sub(/.*\//, "", FILENAME)
		print "FILE", FILENAME
	}
}
/^ *instruction trace error / {
	read_error()
	next
}
/ mem:0x/ {
	hit()
	next
}
/ => / {
	read_branch()
}
END {
	end_of_text()
}
