#!/bin/sh
# SPDX-License-Identifier: MIT
# A real quota: an ext4 with limits for a user and for a project, in User Mode Linux
# (the kernel that runs the tests may have no quota format). An exhausted quota is an error
# with a reason, and leaves no output; below the quota, the conversion succeeds.
. "$top_srcdir/tests/support/tap.sh"
[ -n "$LONG" ] || tap_skip_all "starts a kernel: make check-long"
[ "$P2F_SANITIZED" != yes ] || tap_skip_all "sanitizers do not run under User Mode Linux"
for tool in linux.uml mkfs.ext4 setquota setpriv chattr insmod; do
	PATH=$PATH:/usr/sbin:/sbin command -v $tool >/dev/null || tap_skip_all "no $tool"
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/sample" "$work/share"
chmod 755 "$work"
"$top_builddir/tests/support/make-sample" "$work/sample"
"$top_builddir/tests/scale/make-scale" pieces 4000 "$work/perf.data"
truncate -s 32M "$work/disk"
PATH=$PATH:/usr/sbin:/sbin mkfs.ext4 -q -O quota,project -E quotatype=usrquota:prjquota "$work/disk" ||
	tap_skip_all "no quota in this mkfs.ext4"

# Runs as the first process of the machine; what it prints goes to the host's directory.
cat >"$work/init" <<END
#!/bin/sh
PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
mount -t tmpfs tmp /mnt
mkdir /mnt/host /mnt/disk
mount -t hostfs -o "$work/share" none /mnt/host
modules=/usr/lib/uml/modules/\$(uname -r)/kernel/fs/quota
insmod \$modules/quota_tree.ko
insmod \$modules/quota_v2.ko
mount -t ext4 -o usrquota,prjquota /dev/ubda /mnt/disk || poweroff -f
cd /mnt/disk
mkdir user project
chown 1000 user project
chattr -p 7 project
chattr +P project
convert() { # NAME DIRECTORY OUTPUT OPTIONS...
	name=\$1
	output=\$2/\$3
	directory=\$2
	shift 3
	setpriv --reuid=1000 --regid=1000 --clear-groups "$top_builddir/ptrace2ftf" -q "\$@" --symfs="$work/sample" \\
		-o \$output "$work/perf.data" 2>/mnt/messages
	echo "\$name \$? \$(ls -A \$directory | tr '\\n' ' '): \$(head -1 /mnt/messages)" >>/mnt/host/results
	rm -f \$directory/*
}
setquota -u 1000 100 100 0 0 /mnt/disk
convert user-used-up user x.ftf
convert user-used-up-text user x.txt --format=chrome
setquota -u 1000 8 8 0 0 /mnt/disk
convert user-used-up-packed user x.ftf.gz --args=full
setquota -u 1000 20000 20000 0 0 /mnt/disk
convert user-room user x.ftf
setquota -u 1000 0 0 3 3 /mnt/disk
touch user/a user/b
chown 1000 user/a user/b
convert user-no-files user x.ftf
setquota -u 1000 0 0 0 0 /mnt/disk
setquota -P 7 100 100 0 0 /mnt/disk
convert project-used-up project x.ftf
convert project-elsewhere user x.ftf
poweroff -f
END
chmod 755 "$work/init"
timeout -s KILL 300 linux.uml mem=256M root=/dev/root rootfstype=hostfs rootflags=/ ro "ubd0=$work/disk" \
	con=null con0=fd:0,fd:1 init="$work/init" </dev/null >"$work/console" 2>&1
[ -s "$work/share/results" ] || { tail -5 "$work/console"; tap_skip_all "User Mode Linux does not run here"; }

prints() { # NAME REGEX
	grep -E "^$1 $2" "$work/share/results" || { cat "$work/share/results"; return 1; }
}
tap_check "a user's quota that is used up is an error that leaves nothing" \
	prints user-used-up '1 : ptrace2ftf: .*x\.ftf: .*Disk quota exceeded'
tap_check "the same in text" prints user-used-up-text '1 : ptrace2ftf: .*x\.txt: .*Disk quota exceeded'
tap_check "the same of what is compressed" prints user-used-up-packed '1 : ptrace2ftf: .*x\.ftf\.gz: .*Disk quota exceeded'
tap_check "with room there is an output" prints user-room '[02] x.ftf '
tap_check "a quota of files is an error, too" prints user-no-files '1 a b : ptrace2ftf: .*x\.ftf: .*Disk quota exceeded'
tap_check "a project's quota that is used up is an error" \
	prints project-used-up '1 : ptrace2ftf: .*x\.ftf: .*Disk quota exceeded'
tap_check "outside of the project there is room" prints project-elsewhere '[02] x.ftf '
tap_done
