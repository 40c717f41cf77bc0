#!/bin/sh
# SPDX-License-Identifier: MIT
# libraries.sh BUILD CC CFLAGS: builds libelf, libdw and libiberty from Debian's sources with
# these flags, so that coverage and sanitizers see into what reads ELF, DWARF and names.
# BUILD/libelf.a, libdw.a, libiberty.a, and `libs` with the words that link them, are the
# result; all else is below BUILD, too.
# Status 77 with a reason: the sources cannot be had, and the system's libraries do.
set -e
build=$1
cc=$2
cflags=$3
[ -f "$build/libs" ] && exit
skip() {
	echo "libdw and libiberty are the system's, not instrumented: $*"
	exit 77
}
release=$(. /etc/os-release && echo "$ID $VERSION_CODENAME")
[ "${release%% *}" = debian ] || skip "the system is no Debian"
source=$(cd "$(dirname "$0")/../.." && pwd)
rm -rf "$build"
mkdir -p "$build/elfutils-build" "$build/libiberty-build"
cd "$build"
for package in elfutils libiberty; do
	reason=$("$source/build-aux/debian-source" "${release#* }" $package) || skip "$reason"
done

# The flags only for make: configure's own trials do not link with sanitizers.
{
	(cd libiberty-build && ../libiberty-[0-9]*/libiberty/configure -q CC="$cc" CFLAGS='-g -O1' &&
		make -s CFLAGS="$cflags" libiberty.a)
	cd elfutils-build
	../elfutils-[0-9]*/configure -q --disable-maintainer-mode --disable-debuginfod \
		--disable-libdebuginfod --disable-nls CC="$cc" CFLAGS='-g -O1'
	for part in lib/libeu libelf/libelf libcpu/libcpu backends/libebl_backends libebl/libebl \
		libdwelf/libdwelf libdwfl/libdwfl libdw/libdw; do
		make -s CFLAGS="$cflags -Wno-everything" -C "${part%/*}" "${part#*/}.a"
	done
	cd ..
} >build.log 2>&1 || { tail -n 20 build.log >&2; exit 1; }
cp libiberty-build/libiberty.a elfutils-build/libelf/libelf.a .
cp elfutils-build/libdw/libdw.a .
echo "-ldw -lelf $(sed -n 's/^zip_LIBS = //p' elfutils-build/libdw/Makefile) -lz" >libs
