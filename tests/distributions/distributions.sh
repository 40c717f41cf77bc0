#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds and tests the last commit in root trees of distributions, with each compiler they have:
# `make check-distributions`.  The trees are made by debootstrap below the build directory
# (distributions/), and stay there.  DISTRIBUTIONS and COMPILERS choose rows; by default the unit
# tests run, with DISTRIBUTION_TESTS=all all of `make check`.  The last lines are CONTRIBUTING.md's table.
# As root; downloads 500 MB for a distribution.
#
# arm64-gcc-N is a cross build, whose unit tests run by qemu-user.  What they analyse is code for x86,
# from a build for this machine, which also says what traces are to be like.  musl-gcc-N is a build with
# musl instead of glibc, and the libraries that it needs (musl.sh); it is compared in the same way.
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/support/root_tree.sh"
folder=$trees

# NAME SUITE MIRROR KEYRING COMPILERS.  Compilers that a release lacks are no rows of the table.
rows() {
	cat <<-END
	Debian-12 bookworm $debian debian-archive-keyring.gpg gcc-12 clang-14 clang-15 clang-16 clang-19
	Debian-13 trixie $debian debian-archive-keyring.gpg gcc-13 gcc-14 clang-17 clang-18 clang-19 arm64-gcc-14 musl-gcc-14
	Debian-sid sid $debian debian-archive-keyring.gpg gcc-15 clang-21
	Ubuntu-22.04 jammy http://archive.ubuntu.com/ubuntu ubuntu-archive-keyring.gpg gcc-11 clang-14
	Ubuntu-24.04 noble http://archive.ubuntu.com/ubuntu ubuntu-archive-keyring.gpg gcc-13 clang-18
	END
}

root_tree_needs
mkdir -p "$folder"

find_root() { # SUITE MIRROR KEYRING: as an earlier run has left it
	[ -f "$root.made" ] || { make_root "$@" && touch "$root.made"; }
}

# Ubuntu's keys are no package of Debian 12, so they come from Debian 13, whose keys it has.
find_keyring() { # FILE: sets $keyring; or says why not
	keyring=$keys/$1
	[ ! -f "$keyring" ] || return 0
	root=$folder/Debian-13
	keyring=$root$keys/$1
	[ ! -f "$keyring" ] || return 0
	find_root trixie "$debian" "$keys/debian-archive-keyring.gpg" || return 1
	inside "apt-get update -q && apt-get install -y -q ${1%.gpg}" >"$root.keys.log" 2>&1 && return 0
	grep '^E: ' "$root.keys.log"
	return 1
}

unpack() { # COMPILER
	rm -rf "${root:?}/$1"
	mkdir "$root/$1"
	git -C "$top_srcdir" archive HEAD | tar -x -C "$root/$1"
	sh "$top_srcdir/build-aux/git-version" >"$root/$1/.tarball-version"
}

build() { # COMPILER: the packages, then autoreconf, configure and make
	case $1 in
	arm64-*) build_arm64 "$1"; return ;;
	musl-*) build_musl "$1"; return ;;
	gcc-*) cxx=g++-${1#gcc-} packages="$1 g++-${1#gcc-}" ;;
	*) cxx=clang++-${1#clang-} packages=$1 ;;
	esac
	unpack "$1" || return 1
	inside "apt-get update -q && apt-get install -y -q --no-install-recommends $packages
		cd /$1 && build-aux/bootstrap --enable-werror CC=$1 CXX=$cxx" >"$root.$1.log" 2>&1 && return 0
	grep -E 'error|warning: |^E: ' "$root.$1.log" | tail -n 5
	return 1
}

# Debian has libipt for x86 only, so it is built from Debian's source.
libipt=pool/main/i/intel-processor-trace/intel-processor-trace_2.1.2.orig.tar.gz
libipt_sum=713d3e76b6c3073b122a9f5b6c025bc301a0436582f132caf782814363acf60f
arm64_libraries="libc6-dev libelf-dev libdw-dev libjansson-dev check libzstd-dev zlib1g-dev libiberty-dev
libdeflate-dev liblzma-dev libxxhash-dev libmicrohttpd-dev libzydis-dev libprotobuf-c-dev libsqlite3-dev libcapstone-dev"

build_arm64() { # arm64-gcc-N
	gcc=${1#arm64-} cross=aarch64-linux-gnu
	unpack "$1" || return 1
	inside "dpkg --add-architecture arm64 && apt-get update -q
		apt-get install -y -q --no-install-recommends $gcc $gcc-$cross g++-${gcc#gcc-}-$cross qemu-user cmake \
			$(for library in $arm64_libraries; do printf '%s:arm64 ' "$library"; done)
		cd /$1 && build-aux/bootstrap CC=$gcc && mv build x86
		/usr/lib/apt/apt-helper download-file $mirror/$libipt libipt.tar.gz SHA256:$libipt_sum
		tar -xf libipt.tar.gz
		cmake -S libipt-* -B libipt -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
			-DCMAKE_C_COMPILER=$cross-$gcc -DCMAKE_BUILD_TYPE=Release \
			-DCMAKE_INSTALL_PREFIX=/usr/$cross -DBUILD_SHARED_LIBS=OFF
		make -C libipt -j$(nproc) install
		mkdir build && cd build
		../configure --enable-werror --host=$cross CC=$cross-$gcc CXX=$cross-g++-${gcc#gcc-} \
			PKG_CONFIG=pkg-config PKG_CONFIG_LIBDIR=/usr/lib/$cross/pkgconfig:/usr/share/pkgconfig
		make -j$(nproc)
		wrap() { # PROGRAM [OPTION]
			mv \$1 \$1.arm64
			printf '#!/bin/sh\nexec qemu-aarch64 %s.arm64 \"\$@\" %s\n' \$PWD/\$1 \"\$2\" >\$1
			chmod +x \$1
		}
		wrap ftfdump
		wrap ptrace2ftf --sandbox=off # qemu-user has no Landlock" >"$root.$1.log" 2>&1 && return 0
	grep -E 'error|warning: |^E: ' "$root.$1.log" | tail -n 5
	return 1
}

build_musl() { # musl-gcc-N
	gcc=${1#musl-}
	unpack "$1" || return 1
	inside "apt-get update -q
		apt-get install -y -q --no-install-recommends $gcc g++-${gcc#gcc-} musl-tools gnulib cmake dpkg-dev zstd
		cd /$1 && build-aux/bootstrap CC=$gcc && mv build x86
		REALGCC=$gcc sh tests/distributions/musl.sh $mirror $suite" >"$root.$1.log" 2>&1 && return 0
	grep -E 'error|warning: |^E: ' "$root.$1.log" | tail -n 5
	return 1
}

# In x86/: traces that build/ptrace2ftf writes, against those of ./ptrace2ftf.
compare_traces='mkdir traces && tests/support/make-sample traces
	for program in threads except signals; do
		tests/ptsim/ptsim record --cyc -o traces/$program -- tests/programs/static/$program
	done
	for recording in traces/perf.data traces/threads traces/except traces/signals; do
		./ptrace2ftf -q --no-warn --symfs=traces --args=full $recording -o traces/wanted.ftf || :
		../build/ptrace2ftf -q --no-warn --symfs=traces --args=full $recording -o traces/found.ftf || :
		cmp traces/wanted.ftf traces/found.ftf || printf "not "
		echo "ok - $recording has the trace of the build in x86"
	done'

# The unit tests that musl builds, and the traces of samples and of simulated programs, which are those of
# glibc's build.
tests_musl() { # musl-gcc-N
	inside "cd /$1/build && export top_srcdir=.. top_builddir=/$1/build REALGCC=${1#musl-}
		tests=\$(printf 'include Makefile\\nshow-tests:; @echo \$(TESTS)\\n' | make -s -f - show-tests |
			tr ' ' '\\n' | grep '^tests/unit/.*\\.test\$')
		make -j$(nproc) \$tests tests/unit/symbols/sample tests/unit/symbols/sample_gz \
			tests/unit/src/modules/one.ko tests/unit/src/modules/two.ko
		for test in \$tests; do ./\$test 2>&1 | cat; done # a test may truncate a file that is its output
		cd ../x86 && make -j$(nproc) tests/support/make-sample tests/ptsim/ptsim tests/programs/static/threads \
			tests/programs/static/except tests/programs/static/signals
		$compare_traces" >"$root.$1.tests.log" 2>&1 || :
	count_tests "$1"
}

# The unit tests, and the traces of samples and of simulated programs, which are those of x86.
tests_arm64() { # arm64-gcc-N
	inside "cd /$1/x86 && make -j$(nproc) -k check TESTS= >check.log 2>&1 || :
		for file in tests/unit/symbols/sample tests/unit/symbols/sample_gz tests/unit/src/modules; do
			cp -r \$file ../build/\$file
		done
		cd ../build && export top_srcdir=.. top_builddir=/$1/build
		tests=\$(printf 'include Makefile\\nshow-tests:; @echo \$(TESTS)\\n' | make -s -f - show-tests |
			tr ' ' '\\n' | grep '^tests/unit/.*\.test\$')
		make -j$(nproc) \$tests
		for test in \$tests; do qemu-aarch64 ./\$test | cat; done
		cd ../x86
		$compare_traces" >"$root.$1.tests.log" 2>&1 || :
	count_tests "$1"
}

count_tests() { # COMPILER: in its log, of which comparisons are the end
	counts=$(awk '/^ok/ { if (/# SKIP/) skip++; else pass++ } /^not ok/ { fail++ }
		END { print pass + 0, skip + 0, fail + 0 }' "$root.$1.tests.log")
	grep '^not ok' "$root.$1.tests.log" && return 1
	grep -q '^ok - traces/signals' "$root.$1.tests.log"
}

tests() { # COMPILER: and count them
	case $1 in
	arm64-*) tests_arm64 "$1"; return ;;
	musl-*) tests_musl "$1"; return ;;
	esac
	tests=
	# Which there are depends on what configure has found.
	[ "$DISTRIBUTION_TESTS" = all ] || tests=$(inside "cd /$1/build &&
		printf 'include Makefile\\nshow-tests:; @echo \$(TESTS)\\n' | make -s -f - show-tests" |
		tr ' ' '\n' | grep -E '^tests/unit/.*\.(test|sh)$' | tr '\n' ' ')
	inside "cd /$1 && make -k -C build -j$(nproc) check ${tests:+TESTS='$tests'}" >"$root.$1.tests.log" 2>&1
	status=$?
	counts=$(sed -n 's/^# \(PASS\|FAIL\|SKIP\|ERROR\): *//p' "$root.$1.tests.log" | tr '\n' ' ')
	[ $status -eq 0 ] || grep -E '^(FAIL|ERROR)|\*\*\*' "$root.$1.tests.log" | head -n 20
	return $status
}

# Made, checked, installed, tried and removed as a user would.
packages() { # COMPILER: whose build is done
	inside "cd /$1 && apt-get install -y -q --no-install-recommends debhelper lintian && rm -rf build &&
		DEB_BUILD_OPTIONS='nocheck parallel=$(nproc)' dpkg-buildpackage -Pnocheck -us -uc -b &&
		lintian --allow-root --fail-on error --tag-display-limit 0 ../ptrace2ftf_*.changes &&
		apt-get install -y -q ../ptrace2ftf_*.deb ../ptsim_*.deb ../libftf1_*.deb ../libftf-dev_*.deb ../libptflow1_*.deb ../libptflow-dev_*.deb &&
		sh debian/tests/converts && sh debian/tests/library && sh debian/tests/records && cd / && rm ./*.deb ./*.changes ./*.buildinfo &&
		apt-get remove -y -q ptrace2ftf ptsim libftf1 libftf-dev libptflow1 libptflow-dev" >"$root.packages.log" 2>&1 && return 0
	tail -n 10 "$root.packages.log"
	return 1
}

row() { # NAME COMPILER
	versions=$(inside "/$2/build/ptrace2ftf --version" | awk '/^(libipt|elfutils)/ { printf "%s, ", $0 }')
	set -- "$1" "$2" $counts
	echo "| $(echo "$1" | tr - ' ') | ${2%-*} ${2##*-} | ${versions%, } | $3 passed, $4 skipped, $5 failed |" >>"$folder/table"
}

: >"$folder/table"
rows >"$folder/rows"
while read -r name suite mirror keyring compilers; do
	case " ${DISTRIBUTIONS:-$name} " in *" $name "*) ;; *) continue ;; esac
	if ! find_keyring "$keyring" </dev/null >"$folder/failed"; then
		tap_skip "$name" "no ${keyring##*/} here, nor from Debian 13: $(tail -n 1 "$folder/failed")"
		continue
	fi
	root=$folder/$name
	if ! reason=$(find_root "$suite" "$mirror" "$keyring" </dev/null); then
		tap_skip "$name" "debootstrap cannot make it: $(echo "$reason" | tail -n 1)"
		continue
	fi
	built=
	for compiler in $compilers; do
		case " ${COMPILERS:-$compiler} " in *" $compiler "*) ;; *) continue ;; esac
		tap_check "$name, $compiler: builds without a warning" build "$compiler" </dev/null
		[ $tap_status -eq 0 ] || continue
		case $compiler in
		arm64-* | musl-*) ;; # no package: a cross build
		*) built=$compiler ;;
		esac
		tests "$compiler" </dev/null >"$folder/failed" && status=0 || status=$?
		sed 's/^/# /' "$folder/failed"
		tap_ok $status "$name, $compiler: its tests pass"
		row "$name" "$compiler" </dev/null
	done
	[ -z "$built" ] || tap_check "$name: its packages are made and installed" packages "$built" </dev/null
done <"$folder/rows"
# Systems that debootstrap cannot make.
tap_skip "Alpine (musl)" "made by apk of Alpine's own mirror, of which there is no debootstrap"
sed 's/^/# /' "$folder/table"
tap_done
