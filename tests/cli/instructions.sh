#!/bin/sh
# SPDX-License-Identifier: MIT
# Code for CPUs that are newer than the libraries: an instruction is added before the RET of the
# sample's leaf, whose calls stay the same. magic-trace's machine divides a time evenly, not by
# instructions.
. "$top_srcdir/tests/support/tap.sh"
program=$top_builddir/ptrace2ftf
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
"$top_builddir/tests/support/make-sample" .
calls() { # SYMFS OUTPUT
	"$program" --stacks=magic-trace --symfs="$1" --format=slices perf.data -o "$2" 2>messages
}
calls . wanted
mkdir newer

follows() { # OCTAL-BYTES...
	for bytes in "$@"; do
		# shellcheck disable=SC2059 # the bytes are the format
		cp sample newer/ && printf "$bytes\303" | dd of=newer/sample bs=1 seek=4160 conv=notrunc 2>dd.log
		cmp -s sample newer/sample && { echo "$bytes: the same code"; return 1; }
		calls newer slices && diff wanted slices && continue
		echo "with $bytes"
		cat messages
		return 1
	done
}
# By the ISA extensions manual and the APX specification.
tap_check "Sierra Forest: CMPBXADD, VPDPBSSD, VPMADD52LUQ, VBCSTNEBF162PS, WRMSRNS, RDMSRLIST" \
	follows '\304\342\071\342\043' '\304\042\153\120\112\076' '\304\042\225\264\302' \
	'\304\242\176\261\122\327' '\017\001\306' '\362\017\001\306'
tap_check "Arrow Lake: VSHA512MSG1, VSM3RNDS2, VSM4KEY4, VPDPWSUD" \
	follows '\304\242\177\314\341' '\304\003\151\336\241\115\103\277\261\170' \
	'\304\242\112\332\166\217' '\304\342\012\322\103\365'
tap_check "Granite Rapids: TDPFP16PS, TCMMRLFP16PS" \
	follows '\304\342\153\134\337' '\304\342\110\154\307'
tap_check "Panther Lake: LKGS, PBNDKB" follows '\362\017\000\366' '\017\001\307'
tap_check "Clearwater Forest: URDMSR, UWRMSR with an immediate, WRMSRNS with one" \
	follows '\362\017\070\370\310' '\304\347\172\370\301\001\002\003\004' \
	'\304\347\172\366\303\001\002\003\004'
tap_check "Diamond Rapids: APX's REX2, EVEX, PUSH2, CCMP; AVX10.2; MOVRS" \
	follows '\325\030\001\300' '\142\364\174\030\001\310' '\142\364\174\030\377\360' \
	'\142\004\051\014\203\170\371\024' '\142\365\174\110\130\301' '\146\017\070\212\043'
tap_check "what nobody has defined yet, in VEX and EVEX maps" \
	follows '\304\342\171\376\300' '\142\363\174\110\370\100\001\002' '\304\345\170\000\004\045\001\002\003\004'
tap_done
