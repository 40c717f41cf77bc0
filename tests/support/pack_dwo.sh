#!/bin/sh
# SPDX-License-Identifier: MIT
# Packs split units of DWARF 5 into a package (DWARF 5, 7.3.5): binutils' dwp does
# not know that version, and LLVM's does not end with GCC's units.
#   pack_dwo.sh PACKAGE FILE.dwo...
# Needs objcopy and python3.  Status 1 if there is none, or the files are others.
set -e
package=$1
shift
parts=$(mktemp -d)
trap 'rm -rf "$parts"' EXIT
number=0
for file; do
	for section in info abbrev str str_offsets rnglists; do
		objcopy -O binary --only-section ".debug_$section.dwo" --set-section-flags \
			".debug_$section.dwo=alloc" "$file" "$parts/$number.$section" 2>/dev/null || :
	done
	number=$((number + 1))
done
cd "$parts"
python3 - "$number" <<'END'
import os, struct, sys
columns = {"info": 1, "abbrev": 3, "str_offsets": 6, "rnglists": 8}
whole = {name: b"" for name in [*columns, "str"]}
units = []
for number in range(int(sys.argv[1])):
    part = {}
    for name in whole:
        path = f"{number}.{name}"
        part[name] = open(path, "rb").read() if os.path.exists(path) else b""
    # The units of types come before the unit itself.
    info, at = part["info"], 0
    while True:
        length, version, kind = struct.unpack_from("<IHB", info, at)
        if version != 5:
            sys.exit(1)
        if kind == 5: # DW_UT_split_compile
            break
        at += 4 + length
    part["info"] = info[at:at + 4 + length]
    head, numbers = part["str_offsets"][:8], part["str_offsets"][8:]
    shift = len(whole["str"])
    part["str_offsets"] = head + b"".join(struct.pack("<I", n + shift) for (n,) in struct.iter_unpack("<I", numbers))
    units.append((struct.unpack_from("<Q", part["info"], 12)[0],
                  [(len(whole[name]), len(part[name])) for name in columns]))
    for name in whole:
        whole[name] += part[name]
slots = 2
while slots < 2 * len(units):
    slots *= 2
ids, rows = [0] * slots, [0] * slots
for row, (unit, _) in enumerate(units, 1):
    at, step = unit & slots - 1, unit >> 32 & slots - 1 | 1
    while rows[at]:
        at = at + step & slots - 1
    ids[at], rows[at] = unit, row
index = struct.pack("<HHIII", 5, 0, len(columns), len(units), slots)
index += struct.pack(f"<{slots}Q{slots}I", *ids, *rows) + struct.pack(f"<{len(columns)}I", *columns.values())
for which in 0, 1:
    for _, ranges in units:
        index += struct.pack(f"<{len(columns)}I", *(r[which] for r in ranges))
for name in whole:
    open(name, "wb").write(whole[name])
open("cu_index", "wb").write(index)
END
echo | ${CC:-cc} -c -x c - -o empty.o
set -- --add-section .debug_cu_index=cu_index
for section in info abbrev str str_offsets rnglists; do
	set -- "$@" --add-section ".debug_$section.dwo=$section"
done
objcopy "$@" empty.o packed
cd - >/dev/null
cp "$parts/packed" "$package"
