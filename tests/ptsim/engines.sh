#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs with JIT compilers, with and without the generated code: functions with names are called
# as often as the script calls them, by the callers that the stack pointers show.
. "$top_srcdir/tests/support/tap.sh"
ptsim=$top_builddir/tests/ptsim/ptsim
program=$top_builddir/ptrace2ftf
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
# Link at the start, to keep the dynamic linker out of the stacks.
export LD_BIND_NOW=1

"$ptsim" record -o perf.data -- "$top_builddir/tests/programs/static/tail" >/dev/null 2>messages ||
	tap_skip_all "programs cannot be traced here: $(cat messages)"

# Print each named slice with the slices around it. Code of stripped files has no names.
chains() { # SLICES
	awk '{ name = $5
		for (i = 6; i <= NF && $i !~ /^address=0x/; i++) name = name " " $i
		sub(/^\[syscall: .*/, "[syscall]", name)
		around = $2 ? chain[$1, $2 - 1] : ""
		named = name !~ /\+0x/ && name !~ /^\[[^s]/ && name != "_start"
		chain[$1, $2] = named ? name " < " around : around
		if (named) print chain[$1, $2] }' "$1"
}

record() { # COMMAND...
	rm -f perf.data.code
	"$ptsim" record --code --interrupts=0 --truth=. -o perf.data -- "$@" >out 2>truth || { cat truth; return 1; }
	chains truth.slices >true
}

converts() { # STATUS
	# By the truth, a function that jumps to another ends.
	"$program" --no-warn --stacks=replace --format=slices --args=line perf.data >slices 2>messages
	status=$?
	chains slices >mine
	diff -d true mine >differences
	echo "status $status, $(wc -l <true) slices, $(grep -c '^[<>]' differences) differences"
	[ $status -eq 0 ] && [ ! -s differences ] || { head differences; cat messages; return 1; }
}

with_its_code() {
	converts && grep -q "$(sed -n 's/.* instructions, \([0-9]* branches\).*/\1/p' truth)" messages && ! grep -q 'code without bytes' messages
}

without_its_code() {
	mv perf.data.code code
	converts && grep -q '[0-9] calls* of code without bytes' messages
}

calls() { # COUNT FUNCTION
	count=$(awk -v name="$2" '$5 == name' slices | wc -l)
	echo "$count $2"
	[ "$count" -eq "$1" ]
}

cat >calls.lua <<"END"
local C = require("ffi").C
require("ffi").cdef "long labs(long); int abs(int);"
local function inner(i) return tonumber(C.labs(-i)) end
local function outer(i) return inner(i) + C.abs(i - 50) end
local sum = 0
for i = 1, 100 do sum = sum + outer(i) end
for i = 1, 30 do sum = sum + (os.clock() < 0 and 1 or 0) end
print(sum)
END
of_lua() {
	"$@" && calls 100 labs && calls 100 abs && calls 30 clock && [ "$(cat out)" = 7550 ]
}
if ! command -v luajit >/dev/null; then
	tap_skip "LuaJIT" "no luajit"
elif ! record luajit calls.lua; then
	tap_ok 1 "LuaJIT is recorded"
else
	tap_check "LuaJIT, which removes its code at its end" of_lua with_its_code
	tap_check "without its code" of_lua without_its_code
fi

# qsort() calls a stub that jumps into the interpreter, which is also qsort()'s caller.
cat >callback.lua <<"END"
jit.off()
local ffi = require("ffi")
ffi.cdef "long labs(long); void qsort(void *, size_t, size_t, int (*)(const int *, const int *));"
local numbers = ffi.new("int[20]")
for i = 0, 19 do numbers[i] = (i * 7) % 20 end
ffi.C.qsort(numbers, 20, 4, function(x, y) return tonumber(ffi.C.labs(-x[0])) - y[0] end)
print(numbers[7])
END
of_callbacks() {
	converts && [ "$(grep -c '^labs < [^<]*sort' mine)" -ge 40 ] && [ "$(cat out)" = 7 ]
}
if ! command -v luajit >/dev/null; then
	tap_skip "LuaJIT, which C code calls back" "no luajit"
elif ! record luajit callback.lua; then
	tap_ok 1 "LuaJIT, which C code calls back, is recorded"
else
	tap_check "LuaJIT, which C code calls back" of_callbacks
fi

# grep calls PCRE's code for each line, and again for the rest of the line.
of_grep() {
	"$@" && matched=$(grep -c '^pcre2_jit_match_8 ' mine) && echo "$matched of $(wc -l <out)" &&
		[ "$(wc -l <out)" -eq 60 ] && [ "$matched" -ge 60 ]
}
# In `make check`, LuaJIT is enough.
[ -n "$LONG" ] || tap_done
seq 60 | sed 's/$/ abcabcabd x/' >lines
if ! echo x | grep -qP x 2>/dev/null || ! record grep -P '([a-c]+)d\s(?=x)' lines; then
	tap_skip "grep -P" "no grep with PCRE: $(cat truth)"
elif [ ! -e perf.data.code ]; then
	tap_skip "grep -P" "its PCRE makes no code"
else
	tap_check "grep -P" of_grep with_its_code
	tap_check "grep -P without its code" of_grep without_its_code
fi
tap_done
