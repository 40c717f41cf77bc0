# SPDX-License-Identifier: MIT
# Where functions begin in the source, "NAME PAGE<TAB>LINE<TAB>COLUMN<TAB>FILE", by binutils:
#	awk -v rows=FILE -f function_lines.awk FUNCTIONS
# `rows`: readelf --debug-dump=rawline, which alone prints columns; FUNCTIONS: lines of nm and of
# addr2line for the same addresses, side by side.  The last row of an address counts.  PAGE: the last
# three digits of the address, which are the same in memory.
function row() {
	column[address] = at
}
BEGIN {
	while ((getline text <rows) > 0) {
		if (match(text, / to 0x[0-9a-f]+/)) {
			address = substr(text, RSTART + 6, RLENGTH - 6)
			while (length(address) < 16)
				address = "0" address
		}
		if (text ~ /Set column to /)
			at = substr(text, index(text, "column to ") + 10)
		else if (text ~ /End of Sequence/)
			at = 0
		else if (text ~ /\] +(Special opcode|Copy)/)
			row()
	}
	FS = "\t"
}
{
	split($1, symbol, " ")
	if ($2 !~ /:[0-9]+( |$)/ || $2 ~ /:0( |$)/ || symbol[2] !~ /^[TtWw]$/)
		next
	sub(/ \(discriminator.*/, "", $2)
	source = line = $2
	sub(/:[0-9]+$/, "", source)
	sub(/.*:/, "", line)
	name = $1
	sub(/^[^ ]* [^ ]* /, "", name)
	print name, substr(symbol[1], 14) "\t" line "\t" column[symbol[1]] + 0 "\t" source
}
