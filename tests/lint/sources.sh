#!/bin/sh
# SPDX-License-Identifier: MIT
# Each source file names its licence, and has no unfinished work.
. "${top_srcdir:-.}/tests/support/tap.sh"
cd "${top_srcdir:-.}" || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

sources() {
	find base src decoder symbols writer reader overlays tests man m4 completions doc configure.ac Makefile.am build-aux/bootstrap \
		build-aux/git-version -type f ! -name '*.pb-c.[ch]' \
		\( -name '*.[ch]' -o -name '*.cpp' -o -name '*.sh' -o -name '*.awk' -o -name '*.mk' -o -name '*.[13]' -o -name "_ptrace2ftf" -o -name "*.bash" -o -name "*.fish" \
		-o -name '*.7' -o -name 'p2f-*.m4' -o -name configure.ac -o -name Makefile.am -o -path 'build-aux/*' \) 2>/dev/null
}

has_licence() {
	missing=$(sources | xargs grep -L 'SPDX-License-Identifier: ')
	[ -z "$missing" ] || { echo "$missing"; return 1; }
}

is_finished() {
	! sources | grep -v tests/lint | xargs grep -nwE 'TODO|FIXME|[X]XX'
}

# Installed headers have a guard, for any compiler.
is_read_once() {
	missing=$(sources | grep '\.h$' | xargs grep -LE '^#(pragma once|ifndef (WRITER_FTF|PTFLOW)_H)$')
	[ -z "$missing" ] || { echo "$missing"; return 1; }
}

# Its header makes of each assertion that holds a call of write().
includes_check_once() {
	[ "$(grep -rlF '<check.h>' --include='*.[ch]' tests)" = tests/support/unit.h ] ||
		{ grep -rnF '<check.h>' --include='*.[ch]' tests; return 1; }
}

product() {
	find base decoder symbols writer reader overlays src -name "$1" | sort
}

# In its own words, or beside the header of its name.
says_its_purpose() {
	product '*.c' | while read -r file; do
		sed -n 2p "$file" | grep -q '^/\*' || echo "$file"
	done | grep . && return 1
	return 0
}

has_one_definition_each() {
	product '*.[ch]' | xargs grep -hE '^(struct|enum|union) [a-z_]+ \{' | sort | uniq -d | grep . && return 1
	return 0
}

# base/common.h has them; installed headers are for other programs, too.
lists_no_common_header() {
	product '*.[ch]' | grep -vxE 'base/(common\.h|alloc\.[ch]|error\.[ch])|writer/ftf\.h|decoder/ptflow/ptflow\.h' |
		xargs grep -E '^#include (<(errno|inttypes|limits|stdbool|stddef|stdint|stdio|stdlib|string)\.h>|"base/(alloc|error)\.h")' &&
		return 1
	return 0
}

# A bare verb has no meaning in a back trace or a search.
has_distinct_names() {
	product '*.c' | xargs grep -hoE '^(static )?[a-z][^=;()]*\b[a-z_]+\(' | grep -oE '[a-z_]+\($' |
		grep -v '^__attribute__' | sort | uniq -c | awk '$1 > 3 { print; bad = 1 } END { exit bad }'
}

names_paths_that_exist() {
	grep -ohE '\b(base|decoder|symbols|writer|reader|overlays|src|tests|man|doc|build-aux|completions|debian)/[A-Za-z0-9_./-]*[A-Za-z0-9_/]' \
		README.md CONTRIBUTING.md SECURITY.md doc/*.md | grep -vE 'NAME|\.log$' | sort -u | while read -r path; do
		# A program that is not built yet is in a makefile.
		[ -e "$path" ] || [ -e "${top_builddir:-.}/$path" ] || grep -rqwF --include=local.mk "$path" . || echo "$path"
	done | grep . && return 1
	return 0
}

# Each other file takes a lock by its owner's name.
names_locks_that_exist() {
	product '*.c' | xargs grep -lE '(PTHREAD_MUTEX_INITIALIZER|pthread_mutex_init\()' | sort >"$work/made"
	sed -n '/^| lock | protects/,/^$/s/^| `\([^`]*\)` .*/\1/p' doc/ARCHITECTURE.md | sort >"$work/listed"
	[ -s "$work/made" ] && diff "$work/listed" "$work/made" &&
		! grep -oE 'the lock of `[^`]*`' doc/ARCHITECTURE.md | cut -d'`' -f2 | grep -vxFf "$work/listed"
}

# Else it is missing in the tarball.
is_in_a_makefile() {
	find . -name local.mk ! -path './build*' | xargs cat >"$work/makefiles"
	find base decoder symbols writer reader overlays src tests -name '*.[ch]' ! -path 'tests/ptsys/guest/*' |
		while read -r file; do
			grep -qF "$file" "$work/makefiles" || echo "$file"
		done | grep . && return 1
	return 0
}

# Recordings and logs are made by tests, and seldom as small as a source.
has_only_sources() {
	git ls-files -z | xargs -0 ls -ln | awk '$5 > 262144 { print; large = 1 } END { exit large }'
}

tap_check "every source file has an SPDX line" has_licence
if [ -e .git ] && git ls-files >/dev/null 2>&1; then
	tap_check "no file of the repository is large" has_only_sources
else
	tap_skip "no file of the repository is large" "not in a repository, or no git that reads it"
fi
# Each public service runs the same on the same systems.
runs_ci() {
	for file in .github/workflows/ci.yml .gitlab-ci.yml; do
		grep -qiE 'debian: \["12", "13"\]' $file && grep -qE '^ +- (run: )?\.ci/run$' $file || { echo $file; return 1; }
	done
}
if [ -e .ci/run ]; then # not in the tarball
	tap_check "the files of CI services run .ci/run on Debian 12 and 13" runs_ci
fi
# REUSE.toml is read by version 4 and later.
if reuse --version 2>/dev/null | grep -qE '^reuse, version ([4-9]|[1-9][0-9])'; then
	tap_check "every file has a licence and a copyright, as REUSE wants" reuse lint --quiet
else
	tap_skip "every file has a licence and a copyright, as REUSE wants" "no reuse 4"
fi
tap_check "no source file is marked unfinished" is_finished
tap_check "every header is read once by a file" is_read_once
tap_check "every source file is in a makefile" is_in_a_makefile
tap_check "every .c file says what it is for" says_its_purpose
tap_check "no struct or enum is defined twice" has_one_definition_each
tap_check "no file includes what base/common.h has" lists_no_common_header
tap_check "no function name is that of four functions" has_distinct_names
tap_check "tests include check.h by tests/support/unit.h" includes_check_once
tap_check "the documents name paths that exist" names_paths_that_exist
tap_check "ARCHITECTURE.md has the files that take locks" names_locks_that_exist
tap_done
