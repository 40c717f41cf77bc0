#!/bin/sh
# SPDX-License-Identifier: MIT
# tsan.sh SOURCE BUILD TEST...: builds in BUILD with ThreadSanitizer and runs the tests there,
# each run of the program with 8 threads and small segments, however few CPUs there are.
# What it found is in BUILD/race.*; the status is 1 if there is any, or a test failed.
set -e
source=$1
mkdir -p "$2"
cd "$2"
build=$PWD
shift 2
[ -f Makefile ] || "$source/configure" -q --enable-sanitize=thread
make -s
make -s check TESTS=

# In the program's place, unless it is there since an earlier run.
case $(head -c 2 ptrace2ftf) in
'#!') ;;
*) mv ptrace2ftf ptrace2ftf.threads ;;
esac
cat >ptrace2ftf <<END
#!/bin/sh
case \$1 in
clock-sync | diff | open | record) ;; # a command is the first word
*) exec '$build/tests/support/ptrace2ftf-segments' -j 8 "\$@" ;;
esac
exec '$build/ptrace2ftf.threads' "\$@"
END
chmod +x ptrace2ftf

tests=
for test; do
	case $test in
	*/install.sh | */binutils_agrees.sh | */lint/*) ;; # of the program as a file, and of texts
	*/safety.sh | */options.sh) ;;                     # of all files it opens, and of -j
	*/demangle.test | */open.sh) ;; # limits and ends by a signal, which waits here
	*) tests="$tests $test" ;;
	esac
done
rm -f race.*
status=0
TSAN_OPTIONS="log_path=$build/race" CHECK_THREADS=yes \
	make -k check-TESTS TESTS="$tests" || status=1
for race in race.*; do
	[ -f "$race" ] || continue
	cat "$race"
	status=1
done
exit $status
