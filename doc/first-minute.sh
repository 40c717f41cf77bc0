#!/bin/sh
# SPDX-License-Identifier: MIT
# first-minute.sh PROGRAM DEMO: prints doc/first-minute.svg, a recording of a terminal with the commands below, where
# DEMO, the archive with a release's recording to try, is unpacked.  `make first-minute` runs it.
program=$(realpath "$1") demo=$(realpath "$2")
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
tar -xf "$demo"
ptrace2ftf() { "$program" "$@"; }
{
	while read -r command; do
		echo "\$ $command"
		eval "$command" 2>&1 </dev/null
	done <<-'END'
	ptrace2ftf list --symfs=. demo/demo.data | head -n 7
	ptrace2ftf why -q --symfs=. --symbol=request demo/demo.data
	ptrace2ftf -q --symfs=. --slowest=3 --symbol=request demo/demo.data
	ptrace2ftf --symfs=. demo/demo.data -o demo.html
	END
} | cut -c 1-110 | expand | awk '
	# A line of output follows at once; after a command it takes a second, as does reading.
	/^\$ / { at += 3; class = "command" }
	{ gsub(/&/, "\\&amp;"); gsub(/</, "\\&lt;"); text[NR] = $0; time[NR] = at; kind[NR] = class; at += class ? 1 : 0.1; class = "" }
	END {
		printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"900\" height=\"%d\" font-family=\"monospace\" font-size=\"13\">\n", NR * 18 + 20
		print "<!-- SPDX-License-Identifier: MIT; made by doc/first-minute.sh -->"
		print "<style>text { fill: #ddd; white-space: pre } .command { fill: #8f8 }"
		print "@keyframes show { from { opacity: 0 } }"
		print "@media (prefers-reduced-motion: no-preference) { text { animation: show 0.1s backwards } }</style>"
		print "<rect width=\"100%\" height=\"100%\" rx=\"6\" fill=\"#222\"/>"
		for (i = 1; i <= NR; i++)
			printf "<text x=\"12\" y=\"%d\"%s style=\"animation-delay: %.1fs\" xml:space=\"preserve\">%s</text>\n",
				i * 18 + 6, kind[i] ? " class=\"command\"" : "", time[i], text[i]
		print "</svg>"
	}'
