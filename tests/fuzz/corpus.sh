#!/bin/sh
# SPDX-License-Identifier: MIT
# corpus.sh BUILD DIR: makes the seeds of each fuzz target, in a folder of DIR, and adds
# the kept findings (regressions/). BUILD is a build directory.
set -e
build=$1
folder=$2
source=$(dirname "$0")
mkdir -p "$folder/elf" "$folder/trace_reader"
"$build/tests/fuzz/make_seeds" "$folder"
cp "$build/tests/unit/symbols/sample" "$folder/elf/dwarf"
cp "$build/tests/unit/symbols/sample_gz" "$folder/elf/dwarf_gz"
"$build/tests/support/make-trace" "$folder/trace_reader/plain"
gzip -c "$folder/trace_reader/plain" >"$folder/trace_reader/gzip"
for found in "$source"/regressions/*/*; do
	[ -e "$found" ] || continue
	target=$(basename "$(dirname "$found")")
	cp "$found" "$folder/$target/found-$(basename "$found")"
done
