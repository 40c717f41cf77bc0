#!/bin/sh
# SPDX-License-Identifier: MIT
# make install installs the expected files below DESTDIR, and make uninstall removes all of them.
. "$top_srcdir/tests/support/tap.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

files() {
	find "$work/root" ! -type d | sed "s#^$work/root##" | sort
}

# A separate directory for libraries shows which files are installed there.
installs() {
	make -C "$top_builddir" install DESTDIR="$work/root" prefix=/usr libdir=/usr/lib/here >"$work/log" 2>&1 ||
		{ tail -5 "$work/log"; return 1; }
	files >"$work/files"
	diff - "$work/files" <<-'END'
	/usr/bin/ftfdump
	/usr/bin/ptrace2ftf
	/usr/bin/ptsim
	/usr/include/ftf.h
	/usr/include/ptflow.h
	/usr/lib/here/libftf.a
	/usr/lib/here/libftf.la
	/usr/lib/here/libftf.so
	/usr/lib/here/libftf.so.1
	/usr/lib/here/libftf.so.1.0.0
	/usr/lib/here/libptflow.la
	/usr/lib/here/libptflow.so
	/usr/lib/here/libptflow.so.1
	/usr/lib/here/libptflow.so.1.0.0
	/usr/lib/here/pkgconfig/libftf.pc
	/usr/lib/here/pkgconfig/libptflow.pc
	/usr/share/applications/ptrace2ftf.desktop
	/usr/share/bash-completion/completions/ptrace2ftf
	/usr/share/fish/vendor_completions.d/ptrace2ftf.fish
	/usr/share/man/man1/ftfdump.1
	/usr/share/man/man1/ptrace2ftf-annotate.1
	/usr/share/man/man1/ptrace2ftf-diff.1
	/usr/share/man/man1/ptrace2ftf-list.1
	/usr/share/man/man1/ptrace2ftf-open.1
	/usr/share/man/man1/ptrace2ftf-pack.1
	/usr/share/man/man1/ptrace2ftf-record.1
	/usr/share/man/man1/ptrace2ftf-watch.1
	/usr/share/man/man1/ptrace2ftf-why.1
	/usr/share/man/man1/ptrace2ftf.1
	/usr/share/man/man1/ptsim.1
	/usr/share/man/man3/libftf.3
	/usr/share/man/man3/libptflow.3
	/usr/share/man/man7/ptrace2ftf.7
	/usr/share/mime/packages/ptrace2ftf.xml
	/usr/share/ptrace2ftf/answer.schema.json
	/usr/share/ptrace2ftf/batch-line.schema.json
	/usr/share/ptrace2ftf/diff-first.schema.json
	/usr/share/ptrace2ftf/diff.schema.json
	/usr/share/ptrace2ftf/perfetto/ptrace2ftf/calls.sql
	/usr/share/ptrace2ftf/perfetto/ptrace2ftf/functions.sql
	/usr/share/ptrace2ftf/perfetto/ptrace2ftf/slow_calls.sql
	/usr/share/ptrace2ftf/perfetto/summary.textproto
	/usr/share/ptrace2ftf/record-check.schema.json
	/usr/share/ptrace2ftf/slow-index.schema.json
	/usr/share/ptrace2ftf/summary.schema.json
	/usr/share/ptrace2ftf/why-merged.schema.json
	/usr/share/zsh/site-functions/_ptrace2ftf
	END
}
tap_check "make install DESTDIR= installs exactly what is listed" installs

works() {
	mkdir "$work/sample" && "$top_builddir/tests/support/make-sample" "$work/sample" &&
		(cd "$work/root/usr/bin" && ./ptrace2ftf -q --symfs="$work/sample" "$work/sample/perf.data" -o "$work/x.ftf" &&
			./ftfdump --check "$work/x.ftf")
}
tap_check "what is installed works from there" works

# By name and by content; what the system's types are does not matter.
types() {
	share=$work/root/usr/share
	cp "$work/x.ftf" "$work/trace" && cp "$work/sample/perf.data" "$work/recording" || return 1
	update-mime-database "$share/mime" >"$work/log" 2>&1
	for file in x.ftf:fuchsia-trace trace:fuchsia-trace sample/perf.data:perf-data recording:perf-data; do
		XDG_DATA_HOME=$share gio info -a standard::content-type "$work/${file%:*}" | grep -q "type: application/x-${file#*:}\$" &&
			grep -q "^MimeType=.*application/x-${file#*:};" "$share/applications/ptrace2ftf.desktop" || { echo "$file"; return 1; }
	done
	find "$share/mime" -type f ! -path '*/packages/*' -delete
}
if command -v gio >/dev/null && command -v update-mime-database >/dev/null; then
	tap_check "file managers know the types of traces and recordings, and what opens them" types
else
	tap_skip "file managers know the types of traces and recordings" "no gio, or no update-mime-database"
fi
if command -v desktop-file-validate >/dev/null; then
	tap_check "the desktop entry is valid" desktop-file-validate "$work/root/usr/share/applications/ptrace2ftf.desktop"
else
	tap_skip "the desktop entry is valid" "no desktop-file-validate"
fi

# A path of the build would be wrong on any other machine.
no_traces() {
	! grep -rlI "$(cd "$top_builddir" && pwd)" "$work/root" | grep -v '\.la$'
}
tap_check "no installed text names the directory of the build" no_traces

uninstalls() {
	make -C "$top_builddir" uninstall DESTDIR="$work/root" prefix=/usr libdir=/usr/lib/here >"$work/log" 2>&1 ||
		{ tail -5 "$work/log"; return 1; }
	[ -z "$(files)" ] || { files; return 1; }
}
tap_check "make uninstall leaves no file" uninstalls
tap_done
