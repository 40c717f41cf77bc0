# SPDX-License-Identifier: MIT
# --format=slices against what magic-trace's machine itself says, --format=calls, of the same text:
#	awk [-v arbitrary=1] -f slices_of_calls.awk SCRIPT CALLS SLICES SCRIPT CALLS SLICES...
# The machine names each frame that it ends, so no rule of order is needed: the slices must have
# the same begins and ends, by time and name, and nest.  Of arbitrary text they only must nest.
# A slice's address must be one at which the text has its function.

function ns(text) {
	return text ~ /us/ ? int(text * 1000 + 0.5) : text + 0
}

function wrong(text) {
	print script ": " text
	failed = 1
}

function read_script(  text, f, n, target) {
	split("", known)
	while ((getline text <script) > 0) {
		if (!sub(/.* => */, "", text))
			continue
		split(text, f, " ")
		n = f[2]
		sub(/\+0x[0-9a-f]*$/, "", n)
		known["0x" f[1] " " n] = 1
	}
	close(script)
}

function read_calls(file,  text, name, late, time) {
	split("", count)
	while ((getline text <file) > 0) {
		if (text !~ /^->/)
			continue
		name = substr(text, 19)
		late = sub(/ \[inferred start time\]$/, "", name)
		if (substr(text, 4, 8) ~ /[0-9]/)
			time = ns(substr(text, 4, 8))
		count[substr(text, 13, 1) " " time " " name (late ? " late" : "")]++
	}
	close(file)
}

function read_slices(file,  text, f, name, late, address, d) {
	depth = 0
	while ((getline text <file) > 0) {
		slices++
		split(text, f, " ")
		late = text ~ / inferred_start_time=true/
		address = text ~ / address=/ ? text : ""
		sub(/.* address=/, "", address)
		sub(/ .*/, "", address)
		name = text
		sub(/^[^ ]* [^ ]* [^ ]* [^ ]* /, "", name)
		sub(/ address=.*/, "", name)
		d = f[2]
		if (d > depth || f[3] > f[4] || d && (f[3] < from[d - 1] || f[4] > to[d - 1]))
			wrong("not inside of the slice before: " text)
		if (d < depth && f[3] < to[d])
			wrong("begins inside of the slice before: " text)
		from[d] = f[3]
		to[d] = f[4]
		depth = d + 1
		count["B " f[3] - 1000000000 " " name (late ? " late" : "")]--
		count["E " f[4] - 1000000000 " " name]--
		sub(/ @ .*/, "]", name)
		if (address !~ /^(0x0)?$/ && !((address " " name) in known))
			wrong("never called at that address: " text)
	}
	close(file)
}

BEGIN {
	for (a = 1; a < ARGC; a += 3) {
		script = ARGV[a]
		read_script()
		read_calls(ARGV[a + 1])
		read_slices(ARGV[a + 2])
		for (i in count)
			if (count[i] && !arbitrary)
				wrong(i " is " (count[i] < 0 ? "too much" : "missing"))
	}
	exit failed || slices < 10 * (ARGC - 1) / 3
}
