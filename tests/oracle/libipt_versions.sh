#!/bin/sh
# SPDX-License-Identifier: MIT
# Both engines with the versions of libipt that other Debian releases have, by the dynamic
# linker: the packages are downloaded and unpacked below the build directory.  LIBIPT_DIRS
# (folders with a libipt.so.2) takes their place.  Minutes, and the network: check-long only.
. "$top_srcdir/tests/support/tap.sh"
program=$top_builddir/ptrace2ftf
folder=$top_builddir/tests/oracle/libipt
mirror=http://deb.debian.org/debian
keys=/usr/share/keyrings/debian-archive-keyring.gpg

apt() { # SUITE ARGS...: apt-get as if only this suite existed
	apt_state=$folder/$1/apt
	shift
	apt-get -qq -o Dir::Etc::SourceList="$apt_state/sources.list" -o Dir::Etc::SourceParts=/dev/null \
		-o Dir::State::Lists="$apt_state/lists" -o Dir::Cache="$apt_state/cache" \
		-o Acquire::Languages=none -o Acquire::Retries=0 -o Acquire::http::Timeout=20 \
		-o APT::Sandbox::User="$(id -un)" "$@" >"$folder/messages" 2>&1
}

download() { # SUITE: into $folder/SUITE
	mkdir -p "$folder/$1/apt/lists/partial" "$folder/$1/apt/cache/archives/partial" || return 1
	echo "deb [signed-by=$keys] $mirror $1 main" >"$folder/$1/apt/sources.list"
	apt "$1" update && (cd "$folder/$1" && apt "$1" download libipt2) &&
		dpkg-deb -x "$folder/$1"/libipt2_*.deb "$folder/$1" &&
		rm -rf "$folder/$1/apt/lists" "$folder/$1"/libipt2_*.deb
}

version_of() { # FOLDER: what the program finds there
	LD_LIBRARY_PATH=$1 "$program" --version 2>/dev/null | sed -n 's/^libipt //p'
}

with_library() { # FOLDER COMMAND...
	LD_LIBRARY_PATH=$1
	export LD_LIBRARY_PATH
	shift
	LONG='' "$@" >"$folder/output" 2>&1 && ! grep '^not ok' "$folder/output" && return 0
	grep -B20 '^not ok' "$folder/output"
	return 1
}

check_library() { # FOLDER
	version=$(version_of "$1")
	if [ -z "$version" ] || [ "$version" = "$(version_of '')" ]; then
		tap_skip "libipt in $1" "the program cannot use it, or has the same version"
		return
	fi
	for test in decoder/pt_stream decoder/pt_verify decoder/errata decoder/damage src/cpu_events src/kernel_cpus; do
		tap_check "libipt $version: unit tests, $test" \
			with_library "$1" "$top_builddir/tests/unit/$test.test"
	done
	for test in oracle/engines oracle/bytes ptsim/agrees ptsim/mutated; do
		tap_check "libipt $version: $test.sh" with_library "$1" sh "$top_srcdir/tests/$test.sh"
	done
}

mkdir -p "$folder"
for suite in ${LIBIPT_DIRS:-trixie sid}; do
	if [ -n "$LIBIPT_DIRS" ]; then
		check_library "$suite"
	elif [ -f "$keys" ] && { [ -d "$folder/$suite/usr" ] || download "$suite"; }; then
		check_library "$(echo "$folder/$suite"/usr/lib/*-linux-gnu)"
	else
		tap_skip "libipt of Debian $suite" "cannot download it"
	fi
done
tap_done
