#!/bin/sh
# SPDX-License-Identifier: MIT
# Fuzz targets over the seeds and what is made of them (run_inputs.c); under
# `make fuzz` libFuzzer begins with the same seeds.
. "$top_srcdir/tests/support/tap.sh"
fuzz=$top_builddir/tests/fuzz
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

tap_check "seeds are made" "$fuzz/make_seeds" "$work"
tap_check "runtime events: no input makes the reader hang or overrun" \
	timeout 60 "$fuzz/runtime_events" "$work"/*
tap_check "memtrace: no input makes the reader hang or overrun" timeout 60 "$fuzz/memtrace" "$work"/*
tap_done
