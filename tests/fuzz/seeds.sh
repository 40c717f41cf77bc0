#!/bin/sh
# SPDX-License-Identifier: MIT
# Fuzz targets over the seeds, over what was found with them, and over what is
# made of both (run_inputs.c); under `make fuzz` libFuzzer begins with the same.
# A whole conversion for each input is slow: a quarter of the inputs without LONG=1.
. "$top_srcdir/tests/support/tap.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

tap_check "seeds are made" "$top_srcdir/tests/fuzz/corpus.sh" "$top_builddir" "$work"
for folder in "$work"/*; do
	target=$(basename "$folder")
	case $target${LONG:+-long} in
	run | options) FUZZ_ROUNDS=64 ;;
	*) FUZZ_ROUNDS=256 ;;
	esac
	export FUZZ_ROUNDS
	tap_check "$target: no input makes it hang, overrun or contradict itself" \
		timeout 600 "$top_builddir/tests/fuzz/$target" "$folder"/*
done
tap_done
