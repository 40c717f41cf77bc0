# SPDX-License-Identifier: MIT
# keeps_rules CODE OPTIONS... FILE: the slices of a recording keep the rules of stack_rules.awk, and
# the files below the folder CODE have the code for them, as objdump reads it.  $work: a folder.
keeps_rules() {
	code=$1
	shift
	: >"$work/wanted"
	"$top_builddir/ptrace2ftf" -q --no-warn --no-samples --fit=none --args=full -o "$work/rules.ftf" "$@"
	"$top_builddir/ftfdump" "$work/rules.ftf" |
		awk -v wanted="$work/wanted" -f "$top_srcdir/tests/oracle/stack_rules.awk" || return 1
	command -v objdump >/dev/null || return 0
	for name in $(awk '{ for (i = 2; i < NF; i += 2) print $i }' "$work/wanted" | sort -u); do
		for file in $(find "$code" -type f -name "$name" | head -n 1); do
			# List the lines that the awk program reads. Lists of our programs are kept for other tests.
			case $file in
			"$top_builddir"/*) listing=$file.listing ;;
			*) listing=$work/code.$(echo "$file" | tr / +) ;;
			esac
			[ "$listing" -nt "$file" ] || {
				objdump -d --no-show-raw-insn "$file" 2>/dev/null |
					grep -E '^[0-9a-f]+ <|call|\bj[a-z]+ |%rsp' >"$listing.$$"
				mv "$listing.$$" "$listing"
			}
			awk -v file="$name" -f "$top_srcdir/tests/oracle/stack_code.awk" "$work/wanted" "$listing" ||
				return 1
		done
	done
}
