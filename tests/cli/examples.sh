#!/bin/sh
# SPDX-License-Identifier: MIT
# Each command of the manual's EXAMPLES and ANSWERS, in their order, as a reader would copy it: it ends
# with status 0, prints no error, and writes its output.
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/support/rendered.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/rootfs"
cd "$work" || exit 1
ln -s "$top_builddir/ptrace2ftf" "$top_builddir/tests/ptsim/ptsim" bin
cp "$top_builddir/tests/programs/static/version_a" program
echo 'int main(void) { return 0; }' >program.c
ptsim=$top_builddir/tests/ptsim/ptsim
"$ptsim" record -o perf.data -- ./program >/dev/null 2>messages ||
	tap_skip_all "programs cannot be traced here: $(cat messages)"

# The files that the examples use.
mkdir -p "rootfs$work" && cp program "rootfs$work"
cp "$top_builddir/tests/programs/static/tail" vdso.so
printf '0 1000 begin 0 0\n0 2000 end 0 0\n' | "$top_builddir/tests/support/make-ring" 1 1024 4711.events

# `perf record` is the software recorder; other commands are perf's.
cat >bin/perf <<END
#!/bin/sh
output=perf.data
[ "\$1" = record ] || exec $(command -v perf || echo false) "\$@"
while [ "\$1" != -- ]; do
	[ "\$1" = -o ] && output=\$2
	shift
done
[ "\$output" = - ] || exec "$ptsim" record -o "\$output" "\$@"
"$ptsim" record -o piped "\$@" >&2 && cat piped
END
# The browser only fetches the trace.
cat >bin/fetch <<'END'
#!/bin/sh
url=$(echo "$1" | sed 's/.*[?&]url=\([^&]*\).*/\1/; s/%3A/:/g; s/%2F/\//g')
curl -s --noproxy '*' -o shown.part "$url" && mv shown.part shown
END
chmod +x bin/perf bin/fetch
PATH=$work/bin:$PATH

# Commands are indented by more than text, by which the first indented line is; lines that are indented further continue them.
[ -n "$(renderers)" ] || tap_skip_all "neither groff nor mandoc"
for renderer in $(renderers); do
	for page in ptrace2ftf.1 ptrace2ftf-diff.1 ptrace2ftf.7 ptsim.1; do
		rendered "$renderer" "$top_srcdir/man/$page" |
			awk '/^[A-Z]/ { examples = /^(EXAMPLES|ANSWERS)/ }
				!match($0, /^ +/) { next }
				!text { text = RLENGTH }
				!examples || RLENGTH <= text { next }
				!indent { indent = RLENGTH }
				RLENGTH < indent { next }
				{ further = RLENGTH > indent; sub(/^ +/, "") }
				further { sub(/\\$/, "", command); command = command " " $0; next }
				command != "" { print command }
				{ command = $0 }
				END { print command }'
	done >commands
	[ ! -e others ] || diff others commands
	tap_ok $? "the commands are the same by $renderer"
	cp commands others
done

missing_program() { # COMMAND: prints the first one that is not here
	echo "$1" | sed 's/ | \([a-z]\)/\n\1/g' | awk '{ print $1 }' | while read -r name; do
		command -v "$name" >/dev/null || { echo "$name"; break; }
	done
	case $1 in
	"perf script"*) "$work/bin/perf" --version >/dev/null 2>&1 || echo perf ;;
	"ptrace2ftf open"*)
		command -v curl >/dev/null || echo curl
		ptrace2ftf open nothing 2>&1 | grep -q 'this build has no server' && echo libmicrohttpd
		"$top_builddir/tests/support/private-network" true | sed 's/.*SKIP no //'
		;;
	esac
}
# In a private network, whose port is free.
shows() { # COMMAND
	rm -f shown
	https_proxy=none BROWSER=fetch "$top_builddir/tests/support/private-network" sh -c "$1" >output 2>messages || { cat messages; return 1; }
	tries=0
	until [ -e shown ] || [ $tries -ge 600 ]; do
		sleep 0.1
		tries=$((tries + 1))
	done
	check_trace shown
}

works() { # COMMAND
	case $1 in
	"lcov -a one.info"*) cp coverage.info one.info && cp coverage.info two.info || return 1 ;;
	"ptrace2ftf open "*)
		shows "$1"
		return
		;;
	esac
	sh -c "$1" >output 2>messages
	status=$?
	case $1 in
	*@hit*) # The software recorder has no breakpoints; tests/unit/src/hits.c has their hits.
		grep 'the recording has no hit' messages
		return
		;;
	esac
	grep 'ptrace2ftf: warning' messages && return 1
	[ $status -eq 0 ] || { echo "status $status"; cat messages; return 1; }
	case $1 in
	"perf record"*) [ -s perf.data ] ;;
	cut* | cmp*) ! [ -s output ] ;;
	"ptsim record"*) file=${1#* -o } && [ -s "${file%% *}" ] ;;
	clang* | llvm-bolt* | perf2bolt*) ;;
	*' -o traces/') check_trace traces/*.ftf ;;
	*' -o slow/') check_trace slow/call-001.ftf && [ "$(wc -l <slow/index.tsv)" -ge 2 ] ;;
	*.pb.gz | *callgrind.out* | *.info | *.html | *.bolt | *.prof) [ -s "${1##* -o }" ] ;;
	*' -o '*) check_trace "${1##* -o }" ;;
	*--format=none*) grep -q '^file .*program: found' messages ;;
	*'>'*) [ -s "${1##* }" ] ;;
	*) [ -s output ] ;;
	esac
}
check_trace() { # FILE
	"$top_builddir/ftfdump" "$1" | grep -qE ' (begin|complete) ' && "$top_builddir/ftfdump" --check "$1"
}

while read -r command; do
	missing=$(missing_program "$command")
	case $command in
	*.pb.gz) "$top_builddir/ptrace2ftf" -q -f pprof perf.data -o x 2>messages || missing="protobuf-c in this build" ;;
	esac
	if [ -n "$missing" ]; then
		tap_skip "$command" "no $missing"
	else
		tap_check "$(echo "$command" | tr '#' ' ')" works "$command" </dev/null
	fi
done <commands
[ "$(wc -l <commands)" -ge 10 ]
tap_ok $? "the manual has examples"
tap_done
