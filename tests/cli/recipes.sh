#!/bin/sh
# SPDX-License-Identifier: MIT
# The commands of doc/batch.md for one machine, unchanged: a store of code, a watched folder, object storage.
# tests/cli/cluster.sh runs those for several machines.
. "$top_srcdir/tests/support/tap.sh"
command -v readelf >/dev/null || tap_skip_all "no readelf"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ptsim=$top_builddir/tests/ptsim/ptsim
programs=$top_builddir/tests/programs/static
PATH=$work/bin:$top_builddir:$PATH
cd "$work" || exit 1
mkdir recordings incoming "done" traces deployed bin
cp "$programs/version_a" deployed/service
"$ptsim" record -o recordings/a.data -- deployed/service >/dev/null 2>messages ||
	tap_skip_all "programs cannot be traced here: $(cat messages)"
block() { # NAME
	sed -n "/^<!-- $1 -->\$/,/^\`\`\`\$/p" "$top_srcdir/doc/batch.md" | grep -v '^<!--\|^```'
}
run() { # NAME
	block "$1" >command
	[ -s command ] && sh ./command
}
ptrace2ftf -q recordings/a.data -o wanted.ftf
has_calls() { # FILE
	"$top_builddir/ftfdump" --slices "$1" >slices && "$top_builddir/ftfdump" --slices wanted.ftf | diff - slices &&
		grep -q parse_word slices
}

# The program itself is gone, and so is what a file without a build id could be.
store() {
	block 'store script' >store.sh && sh store.sh deployed/service recordings/a.data && rm deployed/service &&
		[ "$(find store -type f | wc -l)" -eq 1 ] && run store && has_calls traces/a.ftf
}
tap_check "code is found in a store by build id" store
other_build() {
	mv store kept && mkdir store && cp "$programs/version_b" service && sh store.sh service &&
		ptrace2ftf --quiet --symfs=store recordings/a.data -o other.ftf
	status=$?
	rm -r store && mv kept store
	[ $status -eq 2 ] && ! "$top_builddir/ftfdump" --slices other.ftf | grep parse_word
}
tap_check "a file of another build is not used" other_build

# One recording is sound, one is cut, one is none; one has not arrived yet.
drain() {
	rm -f traces/*
	cp recordings/a.data incoming && head -c $(($(wc -c <recordings/a.data) - 8)) recordings/a.data >incoming/cut.data &&
		echo none >incoming/none.data && cp recordings/a.data incoming/.b.partial
	block 'drain script' >drain.sh && sh drain.sh 2>/dev/null
	[ "$(ls incoming)" = none.data ] && [ "$(ls "done" | tr '\n' ' ')" = 'a.data cut.data ' ] &&
		[ "$(ls traces | tr '\n' ' ')" = 'a.ftf cut.ftf ' ] && has_calls traces/a.ftf && grep -q '"input":"incoming/none.data".*"error"' lines.json || return 1
	mv incoming/.b.partial incoming/b.data
	sh drain.sh 2>/dev/null
	[ -s traces/b.ftf ] && [ -e "done/b.data" ]
}
tap_check "a watched folder is drained" drain
units() {
	block service | sed "s:/srv/traces:$work:" >ptrace2ftf.service && block path | sed "s:/srv/traces:$work:" >ptrace2ftf.path &&
		systemd-analyze verify --man=no ./ptrace2ftf.service ./ptrace2ftf.path 2>messages
	! grep 'ptrace2ftf\.' messages && cp recordings/a.data incoming/c.data &&
		sh -c "$(sed -n 's/^ExecStart=//p' ptrace2ftf.service)" 2>/dev/null
	[ -s traces/c.ftf ]
}
if command -v systemd-analyze >/dev/null; then
	tap_check "systemd knows all of the units, and the command converts" units
else
	tap_skip "units of systemd" "no systemd-analyze"
fi

# doc/fleet.md: tests/consumers/fleet.sh reads the tables; here they are where they should be, or nowhere.
tables() {
	ptrace2ftf --quiet --symfs=store -f parquet -o lake/ recordings/a.data &&
		build=$(readelf -n "$programs/version_a" | sed -n 's/.*Build ID: //p') || return 1
	folders=date=$(date -u -r recordings/a.data +%Y-%m-%d)/host=ptsim/build=$build
	(cd lake && find . -type f | sort) >found
	printf './%s\n' a.parquet "calls/$folders/a.parquet" "functions/$folders/a.parquet" "switches/$folders/a.parquet" | diff - found || return 1
	for file in $(find lake -type f); do
		[ "$(head -c 4 "$file")$(tail -c 4 "$file")" = PAR1PAR1 ] || return 1
	done
	ptrace2ftf --quiet --symfs=store -f parquet -o - recordings/a.data 2>messages
	[ $? -eq 64 ] && grep -q 'writes several files; name them with -o DIR/' messages || return 1
	ptrace2ftf --quiet --symfs=store -f parquet -o /dev/null recordings/a.data 2>messages
	[ $? -eq 1 ] && grep -q '^ptrace2ftf: /dev/null: is no file' messages && ! [ -e /dev/calls ] || return 1
	mkdir full && : >full/calls && ptrace2ftf --quiet --symfs=store -f parquet -o full/ recordings/a.data 2>messages
	[ $? -eq 1 ] && grep -q full/calls messages && [ "$(find full -type f)" = full/calls ]
}
tap_check "tables of a recording are in folders" tables

# A store of objects: files in a folder.
cat >bin/aws <<'END'
#!/bin/sh
[ "$1 $2" = "s3 cp" ] || exit 1
[ "$4" = - ] && exec cat "objects/${3#s3://}"
[ "$3" = - ] && exec cat >"objects/${4#s3://}"
END
chmod +x bin/aws
object() {
	mkdir -p objects/recordings objects/traces && cp recordings/a.data objects/recordings && run object && has_calls objects/traces/a.ftf
}
tap_check "objects are read and written through pipes" object
tap_done
