#!/bin/sh
# SPDX-License-Identifier: MIT
# Run the fuzz targets on the seeds, on earlier findings, and on mutations of both
# (run_inputs.c). `make fuzz` begins with the same inputs. Without LONG=1, a quarter of
# the inputs; one of 16 for targets that convert.
. "$top_srcdir/tests/support/tap.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

tap_check "seeds are made" "$top_srcdir/tests/fuzz/corpus.sh" "$top_builddir" "$work"
for folder in "$work"/*; do
	target=$(basename "$folder")
	case $target${LONG:+-long} in
	run | options) FUZZ_ROUNDS=16 ;;
	*-long) FUZZ_ROUNDS=256 ;;
	*) FUZZ_ROUNDS=64 ;;
	esac
	export FUZZ_ROUNDS
	tap_check "$target: no input makes it hang, overrun or contradict itself" \
		timeout 600 "$top_builddir/tests/fuzz/$target" "$folder"/*
done
tap_done
