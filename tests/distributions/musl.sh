#!/bin/sh
# SPDX-License-Identifier: MIT
# Called by distributions.sh within a root tree of Debian, in an unpacked source: builds the libraries
# of Debian's source packages against musl, and then the program in build/.  Debian's musl has fts;
# argp is gnulib's.
set -e
host=x86_64-linux-musl
to=/usr/$host # what musl-gcc looks into
export CC=musl-gcc CFLAGS='-O2 -fPIC' PKG_CONFIG_LIBDIR=/usr/lib/$host/pkgconfig:/usr/share/pkgconfig
sources="zlib libdeflate libzstd xz-utils jansson xxhash elfutils intel-processor-trace libiberty check"

make_prefix() { # with the headers of Linux, and of uthash, which are those of any C library
	mkdir -p $to musl/archives
	ln -sfn ../include/$host $to/include
	ln -sfn ../lib/$host $to/lib
	ln -sfn ../x86_64-linux-gnu/asm $to/include/asm
	for header in linux asm-generic uthash.h; do ln -sfn ../$header $to/include/$header; done
}

get_sources() { # upstream's archives: Debian's changes are not needed
	echo "deb-src $1 $2 main" >/etc/apt/sources.list.d/musl.list
	apt-get update -q
	# shellcheck disable=SC2086 # a list of words
	(cd musl/archives && apt-get source -q --download-only --tar-only $sources)
	for archive in musl/archives/*.orig.tar.*z*; do
		case $archive in *.asc) ;; *) tar -xf "$archive" -C musl ;; esac
	done
	rm /etc/apt/sources.list.d/musl.list
}

build() { # FOLDER [ARGUMENT...]: by its configure
	folder=$1
	shift
	(cd "$folder" && { [ -x configure ] || autoreconf -fi; } && ./configure -q --host=$host --prefix=$to "$@" &&
		make -s -j"$(nproc)" install)
}

build_argp() {
	/usr/share/gnulib/gnulib-tool --create-testdir --without-tests --dir=musl/gnulib --lib=libargp argp
	(cd musl/gnulib && ./configure -q --host=$host && sed -i '/define argp_parse/d' config.h && make -s -C gllib -j"$(nproc)")
	cp musl/gnulib/gllib/libargp.a $to/lib/
	# The header is for programs that have gnulib's config.h.
	{ printf '#define %s\n' '_GL_CONFIG_H_INCLUDED 1' '_GL_ATTRIBUTE_FORMAT(format)' \
		'_GL_INLINE extern inline __attribute__((__gnu_inline__))' _GL_INLINE_HEADER_BEGIN _GL_INLINE_HEADER_END
	cat musl/gnulib/gllib/argp.h; } >$to/include/argp.h
}

build_elfutils() { # its libraries; obstack is for its programs
	cd musl/elfutils-*/
	./configure -q --host=$host --prefix=$to --disable-debuginfod --disable-libdebuginfod --disable-nls \
		ac_cv_search__obstack_free='none required'
	for folder in lib libelf libcpu backends libebl libdwelf libdwfl libdw; do make -s -j"$(nproc)" -C $folder; done
	for folder in libelf libdwelf libdwfl libdw config; do make -s -C $folder install; done
	cd ../..
}

make_prefix
get_sources "$1" "$2"
(cd musl/zlib-* && ./configure --prefix=$to && make -s -j"$(nproc)" install)
cmake -S musl/libdeflate-* -B musl/libdeflate -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=$to -DCMAKE_INSTALL_LIBDIR=lib \
	-DLIBDEFLATE_BUILD_GZIP=OFF
make -s -C musl/libdeflate install
make -s -j"$(nproc)" -C musl/zstd-*/lib install PREFIX=$to
make -s -j"$(nproc)" -C musl/xxHash-* install PREFIX=$to
build musl/xz-* --disable-xz --disable-xzdec --disable-lzmadec --disable-lzmainfo --disable-scripts --disable-doc
build musl/jansson-*
build musl/libiberty-*/libiberty --enable-install-libiberty
cp musl/libiberty-*/libiberty/libiberty.a $to/lib/ # else in a lib64 or ../lib of its own
build musl/check-*
cmake -S musl/libipt-* -B musl/libipt -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=$to -DCMAKE_INSTALL_LIBDIR=lib
make -s -j"$(nproc)" -C musl/libipt install
build_argp
build_elfutils
mkdir build && cd build
unset CFLAGS
# -B: where gcc's -print-file-name finds libiberty.a.
../configure --enable-werror --host=$host CC=$CC PKG_CONFIG=pkg-config LDFLAGS=-B/usr/lib/$host \
	--without-libmicrohttpd --without-protobuf-c --without-sqlite3 --without-capstone
make -j"$(nproc)"
