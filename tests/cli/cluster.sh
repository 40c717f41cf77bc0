#!/bin/sh
# SPDX-License-Identifier: MIT
# The commands of doc/batch.md, unchanged, under GNU parallel over ssh and as a job array
# of Slurm: both on loopback, with daemons that read and write below a temporary
# directory only. For `make check-long`.
. "$top_srcdir/tests/support/tap.sh"
[ -n "$LONG" ] || tap_skip_all "starts daemons: make check-long"
for tool in jq comm split; do
	command -v $tool >/dev/null || tap_skip_all "no $tool"
done
work=$(mktemp -d)
daemons=
finish() {
	for daemon in $daemons; do
		kill "$daemon" 2>/dev/null
	done
	wait
	rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' INT TERM
PATH=$top_builddir:/usr/sbin:$PATH
export PATH

# Eight recordings in directories: one is no recording, one is cut.
mkdir "$work/sample" "$work/cluster"
"$top_builddir/tests/support/make-sample" "$work/sample"
cd "$work/cluster" || exit 1
ln -s ../sample rootfs
mkdir -p recordings/a recordings/b
for name in a/1 a/2 'a/with space' a/"two
lines" b/1 b/2; do
	cp ../sample/perf.data "recordings/$name.data"
done
head -c $(($(wc -c <../sample/perf.data) - 8)) ../sample/perf.data >recordings/b/cut.data
echo "no recording" >recordings/b/bad.data

# The commands below "<!-- NAME -->".
block() { # NAME
	sed -n "/^<!-- $1 -->\$/,/^\`\`\`\$/p" "$top_srcdir/doc/batch.md" | grep -v '^<!--\|^```'
}
run() { # NAME
	block "$1" >command
	[ -s command ] && sh ./command
}
run list
sort -z list >list.sorted

# All outputs are there and sound; the grades are those of one run on one machine.
is_converted() {
	[ "$(find traces -name '*.ftf' -print0 | tr -dc '\0' | wc -c)" -eq 7 ] || { find traces; return 1; }
	for name in a/1 a/2 'a/with space' a/"two
lines" b/1 b/2 b/cut; do
		"$top_builddir/ftfdump" --check "traces/recordings/$name.ftf" >/dev/null || return 1
	done
	[ "$(jq -s 'map(.status) | sort | join(" ")' -c lines.json | tr -d '"')" = "0 0 0 0 0 0 1 2" ] ||
		{ cat lines.json; return 1; }
	[ "$(run worst)" = 1 ] && run failed | grep -q '^recordings/b/bad.data: .*is not a perf.data' &&
		[ -z "$(run lost)" ] && run sums | jq -e '.files == 8 and .slices == 70 and .peak > 100000' >/dev/null
}

# A machine failed: its line is missing, and a second run makes only this output.
goes_on() { # COMMANDS
	grep -v 'with space' lines.json >fewer && mv fewer lines.json
	[ "$(run lost)" = "recordings/a/with space.data" ] || return 1
	rm "traces/recordings/a/with space.ftf"
	"$@"
	[ "$(jq -s 'map(select(.status == 0 and (.skipped | not)).input) | join(" ")' lines.json)" = \
		'"recordings/a/with space.data"' ] || { cat lines.json; return 1; }
}

# ---- ssh -----------------------------------------------------------------
start_sshd() {
	mkdir ../ssh && ssh-keygen -q -t ed25519 -N '' -f ../ssh/host && ssh-keygen -q -t ed25519 -N '' -f ../ssh/user || return 1
	port=$((20000 + $$ % 10000))
	cat >../ssh/server <<-END
		Port $port
		ListenAddress 127.0.0.1
		HostKey $work/ssh/host
		AuthorizedKeysFile $work/ssh/user.pub
		PidFile none
		UsePAM no
		StrictModes no
		PasswordAuthentication no
		SetEnv PATH=$PATH
	END
	cat >../ssh/client <<-END
		Host node1 node2
		HostName 127.0.0.1
		Port $port
		IdentityFile $work/ssh/user
		IdentitiesOnly yes
		UserKnownHostsFile $work/ssh/known
		StrictHostKeyChecking accept-new
		LogLevel ERROR
	END
	# As root, sshd needs an empty /run/sshd: mount a private one.
	# shellcheck disable=SC2016 # the inner shell expands it
	unshare -m sh -c 'mount -t tmpfs none /run && mkdir /run/sshd && exec "$1" -D -e -f "$2"' sh "$(command -v sshd)" "$work/ssh/server" 2>../ssh/log &
	daemons="$daemons $!"
	for _ in $(seq 50); do
		ssh -F ../ssh/client node1 true 2>/dev/null && return 0
		sleep 0.1
	done
	cat ../ssh/log
	return 1
}
by_parallel() {
	PARALLEL_SSH="ssh -F $work/ssh/client" PARALLEL_HOME=$work/parallel run parallel
}
parallel_converts() {
	by_parallel
	# Two inputs did not end with 0: 1 and 2.
	[ $? -eq 2 ] && is_converted && [ "$(awk 'NR > 1 { print $2 }' joblog | sort -u | grep -c 'node[12]')" -eq 2 ] ||
		{ cat messages joblog; return 1; }
}
if ! command -v parallel >/dev/null || ! command -v sshd >/dev/null; then
	tap_skip "GNU parallel" "no parallel or no sshd"
elif ! unshare -m sh -c 'mount -t tmpfs none /run' 2>/dev/null; then
	tap_skip "GNU parallel" "sshd cannot be started by this user"
elif ! start_sshd; then
	tap_ok 1 "sshd runs on loopback"
else
	mkdir "$work/parallel" && : >"$work/parallel/will-cite"
	tap_check "GNU parallel converts over ssh, and grades come back" parallel_converts
	tap_check "GNU parallel makes only what is missing in a second run" goes_on by_parallel
fi

# ---- Slurm -----------------------------------------------------------------
start_slurm() {
	mkdir ../slurm ../slurm/state ../slurm/spool
	host=$(hostname -s)
	port=$((30000 + $$ % 10000))
	cat >../slurm/slurm.conf <<-END
		ClusterName=loopback
		SlurmctldHost=$host(127.0.0.1)
		SlurmctldPort=$port
		SlurmdPort=$((port + 1))
		SlurmUser=$(id -un)
		SlurmdUser=$(id -un)
		AuthType=auth/none
		CredType=cred/none
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		MpiDefault=none
		SlurmctldPidFile=$work/slurm/slurmctld.pid
		SlurmdPidFile=$work/slurm/slurmd.pid
		StateSaveLocation=$work/slurm/state
		SlurmdSpoolDir=$work/slurm/spool
		SlurmctldLogFile=$work/slurm/slurmctld.log
		SlurmdLogFile=$work/slurm/slurmd.log
		SelectType=select/cons_tres
		SelectTypeParameters=CR_Core
		NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
		PartitionName=all Nodes=$host Default=YES State=UP
	END
	SLURM_CONF=$work/slurm/slurm.conf
	export SLURM_CONF
	slurmctld -D 2>../slurm/errors &
	daemons="$daemons $!"
	slurmd -D 2>>../slurm/errors &
	daemons="$daemons $!"
	for _ in $(seq 100); do
		sinfo -h -o %T 2>/dev/null | grep -q idle && return 0
		sleep 0.2
	done
	cat ../slurm/errors
	return 1
}
by_slurm() {
	rm -f lines.*
	run slurm
}
slurm_converts() {
	rm -rf traces lines.json
	block 'slurm script' >convert.sh
	block slurm | head -n 1 >command
	sh ./command
	# The highest status of the four tasks: that of the cut recording, or 1 if both are in one task.
	status=$?
	[ $status -eq 2 ] || [ $status -eq 1 ] || { echo "status $status"; cat messages.*; return 1; }
	cat lines.*.json >lines.json && is_converted
}
if ! command -v slurmctld >/dev/null || ! command -v slurmd >/dev/null; then
	tap_skip "a job array of Slurm" "no slurm-wlm"
elif ! start_slurm; then
	tap_ok 1 "Slurm runs on loopback"
else
	tap_check "a job array of Slurm converts, and lines are collected" slurm_converts
	tap_check "a second job array makes only what is missing" goes_on by_slurm
fi
tap_done
