#!/bin/sh
# SPDX-License-Identifier: MIT
# Run a test program for at most P2F_LIMIT seconds: limited.sh PROGRAM [ARG...]
# 15 minutes are ten times the longest test; tests of check-long take hours.
limit=${P2F_LIMIT:-${LONG:+14400}}
limit=${limit:-900}
timeout -k 10 "$limit" "$@"
status=$?
case $status in
124 | 137) echo "Bail out! $1 did not end in $limit s" ;;
esac
exit $status
