#!/bin/sh
# SPDX-License-Identifier: MIT
# The name of every function symbol is what nm lists at its address, and
# the line of its start is that of addr2line -i's last frame, which is the
# function's own, for files of several languages.  nm lists
# all names of an address: ours is one of them, but for the classes counted apart:
#   suffix   nm's name has a symbol version or a clone's or part's suffix
#   stamp    OCaml's number after the name; nm does not demangle OCaml
#   file     addr2line has the line, but names the unit's first file where a line
#            program names none (DWARF 5, file 1; binutils 2.40); readelf has ours
#   gap      an empty row, which ends its sequence, in front of code without rows
#   inner    a longer symbol covers the address, or nm's has no size and is none of code
. "$top_srcdir/tests/support/tap.sh"
namer=$top_builddir/tests/unit/symbols/name-addresses
command -v addr2line >/dev/null || tap_skip_all "no binutils"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The file with the tables: the same program built in another way, the debug file of
# this build id, else the file itself.
tables_of() { # FILE
	tables=$plain
	[ -z "$plain" ] || return 0
	tables_id=$(readelf -n "$1" 2>/dev/null | awk '/Build ID:/ { print $3; exit }')
	tables_rest=${tables_id#??}
	tables=/usr/lib/debug/.build-id/${tables_id%"$tables_rest"}/$tables_rest.debug
	[ -n "$tables_id" ] && [ -r "$tables" ] || tables=$1
}

same_names() { # FILE
	tables_of "$1"
	nm --defined-only "$tables" 2>/dev/null >"$work/mangled"
	[ -s "$work/mangled" ] || { tables=$1; nm -D --defined-only "$1" >"$work/mangled"; }
	dynamic=
	nm --defined-only "$tables" >/dev/null 2>&1 && nm --defined-only "$tables" 2>/dev/null | grep -q . || dynamic=-D
	nm $dynamic -C --defined-only "$tables" | awk '$2 ~ /^[tTwWi]$/' >"$work/names"
	awk '{ print $1 }' "$work/names" | sort -u >"$work/addresses"
	"$namer" 1 "$1" <"$work/addresses" >"$work/ours" 2>"$work/warnings"
	awk -F'\t' '
	function plain(name) {
		sub(/@.*/, "", name)
		gsub(/ \[clone [^]]*\]/, "", name)
		while (name ~ /\.(cold|localalias|(part|isra|constprop|lto_priv|llvm|cold)\.[0-9]+)$/)
			sub(/\.(cold|localalias|(part|isra|constprop|lto_priv|llvm|cold)\.[0-9]+)$/, "", name)
		return name
	}
	FNR == NR {
		address = $1; sub(/ .*/, "", address); sub(/^0+/, "", address)
		name = $0; sub(/^[^ ]* . /, "", name)
		exact[address, name] = 1
		bare[address, plain(name)] = 1
		first[address] = first[address] " | " name
		next
	}
	{
		total++
		if (($1, $2) in exact) same++
		else if (($1, $2) in bare) suffix++
		else if (first[$1] ~ /\| caml[A-Z]/) stamp++
		else if ($3 != $1) inner++
		else if (++wrong <= 20) print "at " $1 ": ours " $2 ", nm" first[$1]
	}
	END {
		printf "names: %d of %d agree; suffix %d, stamp %d, inner %d, wrong %d\n",
			same, total, suffix, stamp, inner, wrong
		exit wrong > 0 || total == 0
	}' "$work/names" "$work/ours" >"$work/result"
	status=$?
	tail -n 1 "$work/result" | sed "s|^|$1: |" >>"$work/summary"
	cat "$work/result" "$work/warnings"
	return $status
}

same_lines() { # FILE
	tables_of "$1"
	awk -F'\t' '$1 == $3 { print $1 "\t" $4 }' "$work/ours" >"$work/starts"
	cut -f 1 "$work/starts" | $addr2line -a -i -f -e "$tables" | awk '
		/^0x/ { if (NR > 1) print text; next }
		{ getline; sub(/ \(discriminator [0-9]*\)/, ""); sub(/:\?$/, ":0"); text = $0 }
		END { print text }' >"$work/theirs"
	paste "$work/starts" "$work/theirs" >"$work/pairs"
	readelf --debug-dump=decodedline "$tables" 2>/dev/null |
		awk 'NR == FNR { starts["0x" $1]; next } $3 in starts { print $3 "\t" $1 ":" $2 }' \
			"$work/starts" - >"$work/rows"
	awk -F'\t' '
	# addr2line puts a relative directory before a name that has it.
	function once(path, parts) {
		split(path, parts, "/")
		if (parts[1] == "." && parts[3] == "." && parts[2] == parts[4])
			sub(/^\.\/[^\/]*\//, "", path)
		return path
	}
	function line_of(place) { sub(/.*:/, "", place); return place + 0 }
	function row_of(address, place) { sub(/.*\//, "", place); return "0x" address "\t" place }
	FILENAME == ARGV[1] { row[$0] = 1; ends[$1] += /:-$/; next }
	{ total++ }
	$2 == once($3) || (line_of($3) == 0 && $2 == "??:0") { same++; next }
	line_of($2) == line_of($3) && (row_of($1, $2) in row || index($3, "/<artificial>:")) { file++; next }
	line_of($3) == 0 && ends["0x" $1] && row_of($1, $2) in row { gap++; next }
	++wrong <= 20
	END {
		printf "lines: %d of %d agree; file %d, gap %d, wrong %d\n", same, total, file, gap, wrong
		exit wrong > 0 || gap > total / 1000
	}' "$work/rows" "$work/pairs" >"$work/result"
	status=$?
	tail -n 1 "$work/result" | sed "s|^|$1: |" >>"$work/summary"
	cat "$work/result"
	return $status
}

# Of each frame but the innermost, addr2line's line is that of the call of the next.
same_inlined() { # FILE
	tables_of "$1"
	objdump -h "$1" | awk '$2 == ".text" { print $4, $3 }' >"$work/text"
	read -r begin size <"$work/text"
	awk -v begin=$((0x$begin)) -v size=$((0x$size)) -v count="${LONG:+4000}" 'BEGIN {
		srand(1)
		for (i = 0; i < (count ? count : 1000); i++)
			printf "%x\n", begin + int(rand() * size)
	}' >"$work/addresses"
	"$namer" 2 "$1" inlined <"$work/addresses" >"$work/ours"
	$addr2line -a -i -f -e "$tables" <"$work/addresses" | awk '
	/^0x/ { if (NR > 1) print text; sub(/^0x0*/, ""); text = $0; n = 0; next }
	{ name = $0; getline; sub(/ \(discriminator [0-9]*\)/, ""); sub(/:\?$/, ":0")
	  # It puts a relative directory before a name that has it.
	  split($0, part, "/")
	  if (part[1] == "." && part[3] == "." && part[2] == part[4])
		sub(/^\.\/[^\/]*\//, "")
	  if (n++) text = text "\t" inner "\t" $0
	  inner = name }
	END { print text }' >"$work/theirs"
	# Some innermost functions it calls by the name of the symbol that holds them.
	paste -d'\n' "$work/ours" "$work/theirs" | awk -F'\t' '
	function but_innermost(text) { sub(/\t[^\t]*/, "", text); return text }
	NR % 2 { ours = $0; next }
	{ total++; deep += NF > 1 }
	ours == $0 { same++; next }
	but_innermost(ours) == but_innermost($0) { symbol++; next }
	++wrong <= 10 { print "ours  " substr(ours, 1, 500); print "their " substr($0, 1, 500) }
	END {
		printf "inlined: %d of %d addresses agree, %d are in inlined code; innermost by symbol %d, wrong %d\n",
			same, total, deep, symbol, wrong
		exit wrong > 0
	}' >"$work/result"
	status=$?
	tail -n 1 "$work/result" | sed "s|^|$1: |" >>"$work/summary"
	cat "$work/result"
	return $status
}

# The same code, whose debug information is in a package and in the program itself.
build_split() { # COMPILER DWARF-VERSION
	cat >"$work/one.cpp" <<-'END'
		#include <map>
		#include <set>
		#include <string>
		#include <vector>
		std::map<std::string, int> count(const std::vector<std::string> &words)
		{
			std::map<std::string, int> counts;
			std::set<std::string> seen;
			for (const std::string &word : words)
				if (seen.insert(word.substr(0, 3)).second)
					counts[word]++;
			return counts;
		}
	END
	cat >"$work/two.cpp" <<-'END'
		#include <algorithm>
		#include <cstdio>
		#include <map>
		#include <string>
		#include <vector>
		std::map<std::string, int> count(const std::vector<std::string> &words);
		int main(int argc, char **argv)
		{
			std::vector<std::string> words(argv + 1, argv + argc);
			std::stable_sort(words.begin(), words.end());
			for (const auto &[word, number] : count(words))
				std::printf("%s %d\n", word.c_str(), number);
		}
	END
	for split in no-split-dwarf split-dwarf; do
		(cd "$work" && "$1" -O1 -g "-gdwarf-$2" "-g$split" -std=c++17 -c one.cpp -o one.o &&
			"$1" -O1 -g "-gdwarf-$2" "-g$split" -std=c++17 -c two.cpp -o two.o &&
			"$1" one.o two.o -o "$1-$2-$split") >/dev/null 2>&1 || return 1
	done
	plain=$work/$1-$2-no-split-dwarf
	packed=$work/$1-$2-split-dwarf
	objcopy -O binary -j .text "$plain" "$work/plain.text" &&
		objcopy -O binary -j .text "$packed" "$work/packed.text" &&
		cmp "$work/plain.text" "$work/packed.text" || return 1
	(cd "$work" && if [ "$2" = 4 ]; then timeout 300 dwp -e "$packed"
	else "$top_srcdir/tests/support/pack_dwo.sh" "$packed.dwp" one.dwo two.dwo; fi) && rm "$work"/*.dwo
}

# binutils 2.40 does not find the inlined calls of clang's DWARF 5 (DW_FORM_rnglistx).
compare_split() { # COMPILER DWARF-VERSION
	[ "$1$2" != clang++5 ] || addr2line=llvm-addr2line
	if command -v "$addr2line" >/dev/null && build_split "$1" "$2"; then
		tap_check "$1, DWARF $2, .dwp: lines as addr2line" same_starts "$packed"
		tap_check "$1, DWARF $2, .dwp: inlined calls as addr2line -i" same_inlined "$packed"
	else
		tap_skip "$1, DWARF $2, .dwp" "cannot be built"
	fi
	plain=
	addr2line=addr2line
}

same_starts() { # FILE
	same_names "$1" >/dev/null
	same_lines "$1"
}

compare() { # FILE
	[ -r "$1" ] || { tap_skip "$1" "not here"; return; }
	tap_check "$1: names as nm -C" same_names "$1"
	tap_check "$1: lines as addr2line" same_lines "$1"
	tap_check "$1: inlined calls as addr2line -i" same_inlined "$1"
}

library() { # NAME
	ldconfig -p | awk -v name="$1" '$1 == name { print $NF; exit }'
}

build_rust() {
	cat >"$work/main.rs" <<-'END'
		use std::collections::HashMap;
		trait Shape { fn area(&self) -> f64; }
		struct Square<T>(T);
		impl<T: Into<f64> + Copy> Shape for Square<T> {
		    fn area(&self) -> f64 { let x: f64 = self.0.into(); x * x }
		}
		fn main() {
		    let mut map: HashMap<String, Box<dyn Shape>> = HashMap::new();
		    map.insert("a".to_string(), Box::new(Square(2.0f32)));
		    println!("{}", map.values().map(|s| s.area()).sum::<f64>());
		}
	END
	[ "$1" = legacy ] || set -- "$1" -C symbol-mangling-version="$1"
	rust_name=$1
	shift
	rustc -g "$@" -o "$work/rust-$rust_name" "$work/main.rs" 2>/dev/null
}

build_ocaml() {
	cat >"$work/prog.ml" <<-'END'
		module Inner = struct let twice f x = f (f x) let ( ++ ) a b = a + b + 1 end
		let () = print_int (Inner.twice (fun x -> Inner.(x ++ 1)) (Array.length Sys.argv))
	END
	(cd "$work" && ocamlfind ocamlopt -g prog.ml -o prog-ocaml || ocamlopt -g prog.ml -o prog-ocaml) >/dev/null 2>&1
}

plain=
addr2line=addr2line
[ -z "$LONG" ] || compare "$(readlink -f /usr/bin/python3)"
compare "$(library libc.so.6)"
[ -z "$LONG" ] || compare "$(library libstdc++.so.6)"
[ -e /usr/lib/x86_64-linux-gnu/debug/libstdc++.so.6 ] && compare /usr/lib/x86_64-linux-gnu/debug/libstdc++.so.6
for mangling in legacy v0; do
	build_rust $mangling && compare "$work/rust-$mangling"
done
build_ocaml && compare "$work/prog-ocaml"
# Built by clang it has what binutils 2.40 does not find.
compare_program() { # FILE
	! readelf -p .comment "$1" | grep -q clang || addr2line=llvm-addr2line
	if command -v $addr2line >/dev/null; then
		compare "$1"
	else
		tap_skip "$1" "no $addr2line"
	fi
	addr2line=addr2line
}
# Constructors that sanitizers add have lines, but are in no unit, and addr2line asks for the unit first.
[ "$P2F_SANITIZED" = yes ] || compare_program "$top_builddir/ptrace2ftf"
# Each is built twice, for seconds.
compare_split g++ 5
if [ -n "$LONG" ]; then
	compare_split g++ 4
	compare_split clang++ 4
	compare_split clang++ 5
fi
sed "s|$work/||; s/^/# /" "$work/summary"
tap_done
