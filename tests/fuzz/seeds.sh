#!/bin/sh
# SPDX-License-Identifier: MIT
# Fuzz targets over the seeds, over what was found with them, and over what is
# made of both (run_inputs.c); under `make fuzz` libFuzzer begins with the same.
. "$top_srcdir/tests/support/tap.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

tap_check "seeds are made" "$top_srcdir/tests/fuzz/corpus.sh" "$top_builddir" "$work"
for folder in "$work"/*; do
	target=$(basename "$folder")
	tap_check "$target: no input makes it hang, overrun or contradict itself" \
		timeout 600 "$top_builddir/tests/fuzz/$target" "$folder"/*
done
tap_done
