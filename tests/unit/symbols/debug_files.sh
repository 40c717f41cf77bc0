#!/bin/sh
# SPDX-License-Identifier: MIT
# Names and lines of stripped files come from the folders where distributions put debug
# files; nm and addr2line read them from the file before strip(1).
. "$top_srcdir/tests/support/tap.sh"
# ccache would return objects with the directory of an earlier run.
export CCACHE_DISABLE=1
sample=$top_builddir/tests/unit/symbols/sample
namer=$top_builddir/tests/unit/symbols/name-addresses
command -v objcopy >/dev/null || tap_skip_all "no objcopy"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

nm "$sample" | awk '$2 ~ /^[tT]$/ && $3 ~ /^(main|report|sample_global)$/ { print $1 }' >"$work/addresses"
addr2line -f -e "$sample" <"$work/addresses" | paste - - >"$work/expected"
sed 's/:.*/:0/;s/\t.*/\t??:0/' "$work/expected" >"$work/names-only"
id=0123456789abcdef0123456789abcdef01234567

# A stripped copy in a directory of its own, its debug file beside the work.
strip_sample() { # NAME [OBJCOPY OPTIONS]
	mkdir "$work/$1"
	objcopy --only-keep-debug "$sample" "$work/debug"
	name=$1
	shift
	objcopy -S "$@" "$sample" "$work/$name/prog" 2>"$work/objcopy"
}

named_as() { # EXPECTED FILE
	"$namer" 0 "$2" <"$work/addresses" 2>"$work/warnings" | cut -f2,4 >"$work/ours"
	diff "$1" "$work/ours"
}

by_build_id() {
	strip_sample by-id
	mkdir -p "$work/store/.build-id/01"
	cp "$work/debug" "$work/store/.build-id/01/${id#01}.debug"
	! named_as "$work/expected" "$work/by-id/prog" >/dev/null &&
		DEBUG_DIR=$work/store named_as "$work/expected" "$work/by-id/prog"
}

by_link() { # DIRECTORY
	strip_sample "link$1" -R .note.gnu.build-id
	mkdir -p "$work/link$1/$1"
	cp "$work/debug" "$work/link$1/$1/prog.debug"
	objcopy --add-gnu-debuglink="$work/link$1/$1/prog.debug" "$work/link$1/prog"
	named_as "$work/expected" "$work/link$1/prog"
}

not_by_a_wrong_checksum() {
	echo more >>"$work/link/prog.debug"
	! named_as "$work/expected" "$work/link/prog" >/dev/null
}

# A server is any that gives files at /buildid/ID/debuginfo (debuginfod(8)).
by_debuginfod() {
	mkdir -p "$work/server/buildid/$id" "$work/cache"
	cp "$work/debug" "$work/server/buildid/$id/debuginfo"
	python3 -u -m http.server --bind 127.0.0.1 --directory "$work/server" 0 >"$work/port" 2>&1 &
	server=$!
	for _ in $(seq 1000); do
		grep -q port "$work/port" && break
		sleep 0.1
	done
	port=$(sed -n 's/.* port \([0-9]*\) .*/\1/p' "$work/port" | head -n 1)
	export DEBUGINFOD_URLS="http://127.0.0.1:$port" DEBUGINFOD_CACHE_PATH="$work/cache"
	! named_as "$work/expected" "$work/by-id/prog" >/dev/null && ! grep -q GET "$work/port" &&
		DEBUGINFOD=1 named_as "$work/expected" "$work/by-id/prog"
	status=$?
	kill $server
	return $status
}

by_debugdata() {
	strip_sample mini
	objcopy -g "$sample" "$work/names"
	xz -k "$work/names"
	objcopy --add-section .gnu_debugdata="$work/names.xz" "$work/mini/prog"
	named_as "$work/names-only" "$work/mini/prog"
}

damaged_debugdata_is_a_warning() {
	head -c 200 "$work/names.xz" >"$work/names.cut"
	objcopy --update-section .gnu_debugdata="$work/names.cut" "$work/mini/prog"
	! named_as "$work/names-only" "$work/mini/prog" >/dev/null && grep -q debugdata "$work/warnings"
}

compressed_by() { # ALGORITHM
	objcopy --compress-debug-sections="$1" "$sample" "$work/compressed" &&
		readelf -SW "$work/compressed" | grep -q 'zdebug_info\|debug_info.* C ' &&
		named_as "$work/expected" "$work/compressed"
}

# Each version of DWARF, and with the larger part of it in another file.
lines_of() { # COMPILER OPTIONS
	cat >"$work/two.c" <<-'END'
		int helper(int x)
		{
			return x * 3;
		}

		int main(int argc, char **argv)
		{
			return helper(argc) + !argv;
		}
	END
	(cd "$work" && ${CC:-cc} "$@" two.c -o two) || return 1
	nm "$work/two" | awk '$3 == "main" || $3 == "helper" { print $1 }' |
		"$namer" 0 "$work/two" | cut -f2,4 | sort >"$work/ours"
	printf 'helper\t%s/two.c:2\nmain\t%s/two.c:7\n' "$work" "$work" | diff - "$work/ours"
}

# Two files whose functions are inlined: the same code each time it is compiled.
compile_inlined() { # PROGRAM OPTIONS
	output=$1
	shift
	cat >"$work/prog.c" <<-'END'
		int sink, other;
		int work(int x);
		static inline __attribute__((always_inline)) int add(int x)
		{
			return work(x) + 1;
		}
		int main(int argc, char **argv)
		{
			return add(argc) + add(!argv);
		}
	END
	# One section of code, which ranges of inlined calls then count from.
	cat >"$work/helper.c" <<-'END'
		extern int sink, other;
		static inline __attribute__((always_inline)) int twice(int x)
		{
			int y = x * 2 + sink;
			if (__builtin_expect(y > 1000, 0)) {
				other++;
				y -= other * y;
			}
			return y ^ other;
		}
		int work(int x)
		{
			for (int i = 0; i < x; i++)
				sink += twice(i) * x;
			return twice(x) + twice(sink);
		}
	END
	(cd "$work" && for part in prog helper; do
		${CC:-cc} -O2 -g "$@" -c "$part.c" -o "$output-$part.o" || exit 1
	done && ${CC:-cc} "$output-prog.o" "$output-helper.o" -o "$output")
}

# Print each instruction of the program's own functions with its names and lines.
own_code() { # PROGRAM
	objdump -d --no-show-raw-insn "$work/$1" |
		awk '/^$/ { on = 0 } /^[0-9a-f]+ <(work|main)>:/ { on = 1 }
		     on && /^ / { sub(":", "", $1); print $1 }'
}

find_all() { # PROGRAM [inlined]
	own_code "$1" | timeout 300 "$namer" 0 "$work/$1" $2
}

finds_as_plain() { # PROGRAM [inlined]
	find_all plain $2 >"$work/expected"
	grep -q "helper.c:" "$work/expected" && find_all "$1" $2 | diff "$work/expected" -
}

split_files() {
	compile_inlined plain && compile_inlined split -gsplit-dwarf &&
		[ -e "$work/split-prog.dwo" ] && finds_as_plain split && finds_as_plain split inlined
}

# No file outside of symfs is opened, whatever path the program has.
split_files_below_symfs() {
	compile_inlined outside -gsplit-dwarf && mkdir -p "$work/symfs$work" &&
		cp "$work/outside" "$work/plain" "$work/symfs$work" || return 1
	! SYMFS=$work/symfs finds_as_plain outside inlined >/dev/null 2>&1 &&
		mv "$work"/outside-*.dwo "$work/symfs$work" &&
		SYMFS=$work/symfs finds_as_plain outside inlined
}

# Packages, by GNU's tool (DWARF 4) or our own (DWARF 5).
pack() { # DWARF-VERSION
	compile_inlined packed -gsplit-dwarf "-gdwarf-$1" || return 1
	if [ "$1" = 4 ]; then
		(cd "$work" && timeout 300 dwp -e packed)
	else
		"$top_srcdir/tests/support/pack_dwo.sh" "$work/packed.dwp" "$work"/packed-*.dwo
	fi && mkdir -p "$work/elsewhere" && mv "$work"/packed-*.dwo "$work/elsewhere"
}

packed_split_files() { # DWARF-VERSION
	pack "$1" && finds_as_plain packed && finds_as_plain packed inlined
}

# The .dwo files are away, and so is the package: said once for each of the two units.
missing_split_files() {
	mv "$work/packed.dwp" "$work/elsewhere/packed.dwp"
	find_all packed inlined 2>"$work/warnings" >/dev/null
	cat "$work/warnings"
	grep -q 'is missing, also from .dwp files (2 times)' "$work/warnings"
}

found_in_debug_dir() {
	mkdir -p "$work/roots$work" && cp "$work/elsewhere/packed.dwp" "$work/roots$work/packed.dwp" &&
		DEBUG_DIR=$work/roots finds_as_plain packed inlined || return 1
	rm "$work/roots$work/packed.dwp" && mv "$work"/elsewhere/*.dwo "$work/roots$work" &&
		DEBUG_DIR=$work/roots finds_as_plain packed inlined
}

found_beside() {
	mv "$work/roots$work"/*.dwo "$work/elsewhere" && cp "$work/packed" "$work/moved" &&
		mv "$work/moved" "$work/elsewhere/packed" && finds_as_plain elsewhere/packed inlined
}

damaged_packages() { # DWARF-VERSION
	pack "$1" && own_code packed | timeout 300 "$top_builddir/tests/unit/symbols/damage-package" \
		"$work/packed" "$work/packed.dwp" && finds_as_plain packed inlined
}

shared_parts() {
	cp "$work/plain" "$work/first" && cp "$work/plain" "$work/second" &&
		(cd "$work" && timeout 300 dwz -m shared first second) || return 1
	readelf -S "$work/first" | grep -q gnu_debugaltlink && finds_as_plain first &&
		finds_as_plain second inlined
}

damaged_shared_parts() {
	own_code first | timeout 300 "$top_builddir/tests/unit/symbols/damage-package" \
		"$work/first" "$work/shared" && finds_as_plain first inlined
}

tap_check "by build id in a debug directory" by_build_id
tap_check "by .gnu_debuglink in the same directory" by_link ""
tap_check "by .gnu_debuglink in .debug" by_link .debug
tap_check "not by .gnu_debuglink if the checksum is another" not_by_a_wrong_checksum
if command -v xz >/dev/null; then
	tap_check "names from .gnu_debugdata" by_debugdata
	tap_check "a damaged .gnu_debugdata costs a warning" damaged_debugdata_is_a_warning
fi
# A network without a loopback interface that is up reaches no server.
reaches_itself() {
	python3 -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); socket.create_connection(s.getsockname())' \
		2>/dev/null
}
if reaches_itself && ldconfig -p | grep -q libdebuginfod; then
	tap_check "from a debuginfod server, if that is asked for" by_debuginfod
else
	tap_skip "from a debuginfod server" "no client or server, or no loopback interface"
fi
for algorithm in zlib-gnu zlib-gabi zstd; do
	if objcopy --help | grep -q "$algorithm"; then
		tap_check "sections compressed by $algorithm" compressed_by $algorithm
	else
		tap_skip "sections compressed by $algorithm" "objcopy does not know it"
	fi
done
for version in 2 3 4 5; do
	tap_check "lines of DWARF $version" lines_of -g -gdwarf-$version
done
tap_check "lines of split DWARF" lines_of -g -gsplit-dwarf
tap_check "names, lines and inlined calls of .dwo files" split_files
tap_check ".dwo files below symfs, and none outside of it" split_files_below_symfs
if command -v dwp >/dev/null && command -v python3 >/dev/null; then
	for version in 4 5; do
		tap_check "names, lines and inlined calls of a .dwp file, DWARF $version" packed_split_files $version
	done
	for version in 4 5; do
		tap_check "damage to a .dwp file of DWARF $version costs no more than its calls" damaged_packages $version
	done
	tap_check "what was split off and is not found is a warning" missing_split_files
	tap_check "packages and .dwo files in a debug directory" found_in_debug_dir
	tap_check ".dwo files beside a program that was moved" found_beside
else
	tap_skip "names, lines and inlined calls of a .dwp file" "no dwp or no python3"
fi
if command -v dwz >/dev/null; then
	tap_check "names, lines and inlined calls of what dwz shared" shared_parts
	tap_check "damage to what dwz shared costs no more than its calls" damaged_shared_parts
else
	tap_skip "what dwz shared" "no dwz"
fi
# As of clang 3.4: the unit's DW_AT_high_pc becomes another attribute (DW_AT_const_value).
unit_without_end() {
	printf 'int one(int n)\n{\n\treturn n + 1;\n}\n\nint main(void)\n{\n\treturn one(-1);\n}\n' >"$work/end.c"
	(cd "$work" && ${CC:-cc} -g -gdwarf-4 -O0 -dA -S end.c &&
		awk '/DW_TAG_compile_unit/ { unit = 1 } unit && /DW_AT_high_pc/ && sub(/0x12/, "0x1c") { unit = 0 } { print }' end.s >cut.s &&
		! cmp -s end.s cut.s && ${CC:-cc} cut.s -o cut) || return 1
	readelf --debug-dump=info "$work/cut" | grep -q 'const_value' || return 1
	nm "$work/cut" | awk '$3 ~ /^(one|main)$/ { print $1 }' >"$work/starts"
	addr2line -f -e "$work/cut" <"$work/starts" | paste - - >"$work/cut-lines"
	"$namer" 0 "$work/cut" <"$work/starts" | cut -f2,4 | diff "$work/cut-lines" - && grep -q 'end.c:[1-9]' "$work/cut-lines"
}
tap_check "a unit whose end is unknown has the lines of its functions" unit_without_end
tap_done
