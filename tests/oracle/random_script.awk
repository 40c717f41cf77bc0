# SPDX-License-Identifier: MIT
# Random text of perf script: files DIR/N.script, of one thread each, for the seeds N from `first` on.
#	awk -v dir=DIR -v first=1 -v count=100 [-v arbitrary=1] -f random_script.awk
# Most branches keep to a call stack and to their privilege level; with `arbitrary` some do neither.

# A number below n, by the generator of Park and Miller, which is the same in every awk.
function below(n) {
	state = state * 16807 % 2147483647
	return int(state / 2147483647 * n)
}

function place(f) { # "ip symbol+0xoffset"
	if (f == "none")
		return "0 [unknown]" dso
	if (f == "unknown")
		return sprintf("%x [unknown]%s", 28672 + below(3), dso)
	return sprintf("%s%x %s+0x%x%s", f ~ /^k_/ ? "ffffffff8100" : "",
		16384 + 256 * index(names, " " f " "), f, below(16), dso)
}

function some(  f) { # A function of the same privilege.
	do f = name[1 + below(functions)]
	while (level != (f ~ /^k_/))
	return f
}

function here() {
	return depth ? stack[depth] : some()
}

function line(flags, from, to) {
	printf " 7/7 1.%09d:   %s%-17s %s => %s\n", time, branches, flags, place(from), place(to) >file
	if (!lines++ || from == "gogo")
		time += 2
}

function error() {
	level = below(3) == 0
	time += 2
	printf " instruction trace error type 1 %scpu -1 pid 7 tid 7 ip %s code %d: %s\n",
		below(5) ? sprintf("time 1.%09d ", time) : "", level ? "0xffffffff81004000" : "0x4010",
		6 + below(2), below(2) ? "Overflow packet" : "Trace doesn't match instruction" >file
	depth = 0
	time += 2
}

# Into the kernel; an interrupt may be one of the kernel.
function enter(flags,  from) {
	from = here()
	time += 2
	level = 1
	stack[depth += !depth] = from
	stack[++depth] = some()
	line(flags, from, stack[depth])
}

function leave(flags,  from) {
	from = here()
	while (depth && stack[depth] ~ /^k_/)
		depth--
	level = 0
	line(flags, from, here())
}

function stop(flags,  from) {
	from = here()
	line("tr end  " flags, from, "none")
	time += below(200)
	line("tr strt", "none", below(9) ? from : some())
}

function anything(  flags) {
	if (arbitrary) {
		level = below(2)
		flags = any[1 + below(any_known)]
		line(flags, flags ~ /tr strt$/ ? "none" : some(), flags ~ /tr end/ ? "none" : some())
	} else {
		flags = odd[1 + below(odd_known)]
		line(flags, here(), flags ~ /tr end/ ? "none" : some())
	}
}

function event(  what, from) {
	what = below(24)
	from = here()
	if (what < 8) {
		stack[++depth] = some()
		line("call", from, stack[depth])
	} else if (what < 14) {
		if (depth > 1 && stack[depth - 1] !~ /^k_/ && level) {
			leave("iret")
			return
		}
		if (--depth < 1)
			stack[depth = 1] = some()
		line("return", from, below(9) ? here() : some())
	} else if (what < 16) {
		stack[depth += !depth] = below(3) ? from : some()
		line(below(2) ? "jmp" : "jcc", from, here())
	} else if (what < 17) {
		if (below(2))
			error()
	} else if (what < 19) {
		stop(end[1 + below(3)])
	} else if (what < 20) {
		if (level)
			leave(below(2) ? "sysret" : "iret")
		else
			enter("syscall")
	} else if (what < 21) {
		enter("hw int")
	} else {
		anything()
	}
}

# The first and last instants, errors, entries of the kernel and what follows gogo have times of
# their own: magic-trace's times go back there, or its slices overlap, so that no picture is right.
function script(seed,  events) {
	state = seed * 7919 % 2147483646 + 1
	for (events = 0; events < 5; events++)
		below(1)
	file = dir "/" seed ".script"
	depth = level = time = lines = 0
	dso = below(2) ? "" : " (prog)"
	branches = dso == "" ? "" : "1  branches:uH:   "
	# Another thread has the run's first instant, mostly.
	if (below(3)) {
		printf " 1/1 1.000000000:   %svmentry   %s => %s\n", branches, place("main"), place("main") >file
		time = 1 + below(50)
	}
	stack[++depth] = some()
	line("call", "main", stack[depth])
	for (events = 3 + below(40); events; events--) {
		event()
		time += below(5) < 2 ? 0 : below(3) ? below(120) : 1
	}
	time += 2
	line("jmp", here(), here())
	close(file)
}

BEGIN {
	names = " main work leaf fin k_entry k_work unknown gogo runtime.mcall caml_raise_exn " \
		"caml_raise_exception caml_next_frame_descriptor "
	functions = split(names, name, " ")
	any_known = split("call,return,jmp,jcc,syscall,sysret,hw int,iret,int,tr strt,tr end," \
		"tr end  call,tr end  return,tr end  syscall,tr end  sysret,tr end  iret," \
		"tr end  async,tr strt tr end,tx abrt,call (x),return (x),jmp (x)", any, ",")
	odd_known = split("return,jmp,tr strt,tr end,tr end  return,tr strt tr end,tx abrt," \
		"call (x),return (x),jmp (x)", odd, ",")
	split("call,return,syscall", end, ",")
	for (n = 0; n < count; n++)
		script(first + n)
}
