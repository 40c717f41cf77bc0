/* SPDX-License-Identifier: MIT */
/*
 * Tables of our own, so that a recording gives the same names on each system, also on other
 * processors.  Linux never changes a number: arch/x86/entry/syscalls/syscall_64.tbl and
 * syscall_32.tbl, as of Linux 7.2.
 */
#include "symbols/names/syscall_names.h"

/* Ten names in the order of their numbers; "_": no call has the number. */
#define TEN(a, b, c, d, e, f, g, h, i, j) #a, #b, #c, #d, #e, #f, #g, #h, #i, #j

/* From 424 on, all processors have the same numbers. */
#define COMMON 424

static const char *const names[] = {
	TEN(read, write, open, close, stat, fstat, lstat, poll, lseek, mmap),
	TEN(mprotect, munmap, brk, rt_sigaction, rt_sigprocmask, rt_sigreturn, ioctl, pread64,
	    pwrite64, readv),
	TEN(writev, access, pipe, select, sched_yield, mremap, msync, mincore, madvise, shmget),
	TEN(shmat, shmctl, dup, dup2, pause, nanosleep, getitimer, alarm, setitimer, getpid),
	TEN(sendfile, socket, connect, accept, sendto, recvfrom, sendmsg, recvmsg, shutdown, bind),
	TEN(listen, getsockname, getpeername, socketpair, setsockopt, getsockopt, clone, fork,
	    vfork, execve),
	TEN(exit, wait4, kill, uname, semget, semop, semctl, shmdt, msgget, msgsnd),
	TEN(msgrcv, msgctl, fcntl, flock, fsync, fdatasync, truncate, ftruncate, getdents, getcwd),
	TEN(chdir, fchdir, rename, mkdir, rmdir, creat, link, unlink, symlink, readlink),
	TEN(chmod, fchmod, chown, fchown, lchown, umask, gettimeofday, getrlimit, getrusage,
	    sysinfo),
	TEN(times, ptrace, getuid, syslog, getgid, setuid, setgid, geteuid, getegid, setpgid),
	TEN(getppid, getpgrp, setsid, setreuid, setregid, getgroups, setgroups, setresuid,
	    getresuid, setresgid),
	TEN(getresgid, getpgid, setfsuid, setfsgid, getsid, capget, capset, rt_sigpending,
	    rt_sigtimedwait, rt_sigqueueinfo),
	TEN(rt_sigsuspend, sigaltstack, utime, mknod, uselib, personality, ustat, statfs, fstatfs,
	    sysfs),
	TEN(getpriority, setpriority, sched_setparam, sched_getparam, sched_setscheduler,
	    sched_getscheduler, sched_get_priority_max, sched_get_priority_min,
	    sched_rr_get_interval, mlock),
	TEN(munlock, mlockall, munlockall, vhangup, modify_ldt, pivot_root, _sysctl, prctl,
	    arch_prctl, adjtimex),
	TEN(setrlimit, chroot, sync, acct, settimeofday, mount, umount2, swapon, swapoff, reboot),
	TEN(sethostname, setdomainname, iopl, ioperm, create_module, init_module, delete_module,
	    get_kernel_syms, query_module, quotactl),
	TEN(nfsservctl, getpmsg, putpmsg, afs_syscall, tuxcall, security, gettid, readahead,
	    setxattr, lsetxattr),
	TEN(fsetxattr, getxattr, lgetxattr, fgetxattr, listxattr, llistxattr, flistxattr,
	    removexattr, lremovexattr, fremovexattr),
	TEN(tkill, time, futex, sched_setaffinity, sched_getaffinity, set_thread_area, io_setup,
	    io_destroy, io_getevents, io_submit),
	TEN(io_cancel, get_thread_area, lookup_dcookie, epoll_create, epoll_ctl_old, epoll_wait_old,
	    remap_file_pages, getdents64, set_tid_address, restart_syscall),
	TEN(semtimedop, fadvise64, timer_create, timer_settime, timer_gettime, timer_getoverrun,
	    timer_delete, clock_settime, clock_gettime, clock_getres),
	TEN(clock_nanosleep, exit_group, epoll_wait, epoll_ctl, tgkill, utimes, vserver, mbind,
	    set_mempolicy, get_mempolicy),
	TEN(mq_open, mq_unlink, mq_timedsend, mq_timedreceive, mq_notify, mq_getsetattr, kexec_load,
	    waitid, add_key, request_key),
	TEN(keyctl, ioprio_set, ioprio_get, inotify_init, inotify_add_watch, inotify_rm_watch,
	    migrate_pages, openat, mkdirat, mknodat),
	TEN(fchownat, futimesat, newfstatat, unlinkat, renameat, linkat, symlinkat, readlinkat,
	    fchmodat, faccessat),
	TEN(pselect6, ppoll, unshare, set_robust_list, get_robust_list, splice, tee,
	    sync_file_range, vmsplice, move_pages),
	TEN(utimensat, epoll_pwait, signalfd, timerfd_create, eventfd, fallocate, timerfd_settime,
	    timerfd_gettime, accept4, signalfd4),
	TEN(eventfd2, epoll_create1, dup3, pipe2, inotify_init1, preadv, pwritev, rt_tgsigqueueinfo,
	    perf_event_open, recvmmsg),
	TEN(fanotify_init, fanotify_mark, prlimit64, name_to_handle_at, open_by_handle_at,
	    clock_adjtime, syncfs, sendmmsg, setns, getcpu),
	TEN(process_vm_readv, process_vm_writev, kcmp, finit_module, sched_setattr, sched_getattr,
	    renameat2, seccomp, getrandom, memfd_create),
	TEN(kexec_file_load, bpf, execveat, userfaultfd, membarrier, mlock2, copy_file_range,
	    preadv2, pwritev2, pkey_mprotect),
	TEN(pkey_alloc, pkey_free, statx, io_pgetevents, rseq, uretprobe, uprobe, _, _, _),
	[420] = TEN(_, _, _, _, pidfd_send_signal, io_uring_setup, io_uring_enter,
		    io_uring_register, open_tree, move_mount),
	TEN(fsopen, fsconfig, fsmount, fspick, pidfd_open, clone3, close_range, openat2,
	    pidfd_getfd, faccessat2),
	TEN(process_madvise, epoll_pwait2, mount_setattr, quotactl_fd, landlock_create_ruleset,
	    landlock_add_rule, landlock_restrict_self, memfd_secret, process_mrelease, futex_waitv),
	TEN(set_mempolicy_home_node, cachestat, fchmodat2, map_shadow_stack, futex_wake, futex_wait,
	    futex_requeue, statmount, listmount, lsm_get_self_attr),
	TEN(lsm_set_self_attr, lsm_list_modules, mseal, setxattrat, getxattrat, listxattrat,
	    removexattrat, open_tree_attr, file_getattr, file_setattr),
	TEN(listns, rseq_slice_yield, _, _, _, _, _, _, _, _),
};

static const char *const names_i386[] = {
	TEN(restart_syscall, exit, fork, read, write, open, close, waitpid, creat, link),
	TEN(unlink, execve, chdir, time, mknod, chmod, lchown, break, oldstat, lseek),
	TEN(getpid, mount, umount, setuid, getuid, stime, ptrace, alarm, oldfstat, pause),
	TEN(utime, stty, gtty, access, nice, ftime, sync, kill, rename, mkdir),
	TEN(rmdir, dup, pipe, times, prof, brk, setgid, getgid, signal, geteuid),
	TEN(getegid, acct, umount2, lock, ioctl, fcntl, mpx, setpgid, ulimit, oldolduname),
	TEN(umask, chroot, ustat, dup2, getppid, getpgrp, setsid, sigaction, sgetmask, ssetmask),
	TEN(setreuid, setregid, sigsuspend, sigpending, sethostname, setrlimit, getrlimit,
	    getrusage, gettimeofday, settimeofday),
	TEN(getgroups, setgroups, select, symlink, oldlstat, readlink, uselib, swapon, reboot,
	    readdir),
	TEN(mmap, munmap, truncate, ftruncate, fchmod, fchown, getpriority, setpriority, profil,
	    statfs),
	TEN(fstatfs, ioperm, socketcall, syslog, setitimer, getitimer, stat, lstat, fstat,
	    olduname),
	TEN(iopl, vhangup, idle, vm86old, wait4, swapoff, sysinfo, ipc, fsync, sigreturn),
	TEN(clone, setdomainname, uname, modify_ldt, adjtimex, mprotect, sigprocmask, create_module,
	    init_module, delete_module),
	TEN(get_kernel_syms, quotactl, getpgid, fchdir, bdflush, sysfs, personality, afs_syscall,
	    setfsuid, setfsgid),
	TEN(_llseek, getdents, _newselect, flock, msync, readv, writev, getsid, fdatasync, _sysctl),
	TEN(mlock, munlock, mlockall, munlockall, sched_setparam, sched_getparam,
	    sched_setscheduler, sched_getscheduler, sched_yield, sched_get_priority_max),
	TEN(sched_get_priority_min, sched_rr_get_interval, nanosleep, mremap, setresuid, getresuid,
	    vm86, query_module, poll, nfsservctl),
	TEN(setresgid, getresgid, prctl, rt_sigreturn, rt_sigaction, rt_sigprocmask, rt_sigpending,
	    rt_sigtimedwait, rt_sigqueueinfo, rt_sigsuspend),
	TEN(pread64, pwrite64, chown, getcwd, capget, capset, sigaltstack, sendfile, getpmsg,
	    putpmsg),
	TEN(vfork, ugetrlimit, mmap2, truncate64, ftruncate64, stat64, lstat64, fstat64, lchown32,
	    getuid32),
	TEN(getgid32, geteuid32, getegid32, setreuid32, setregid32, getgroups32, setgroups32,
	    fchown32, setresuid32, getresuid32),
	TEN(setresgid32, getresgid32, chown32, setuid32, setgid32, setfsuid32, setfsgid32,
	    pivot_root, mincore, madvise),
	TEN(getdents64, fcntl64, _, _, gettid, readahead, setxattr, lsetxattr, fsetxattr, getxattr),
	TEN(lgetxattr, fgetxattr, listxattr, llistxattr, flistxattr, removexattr, lremovexattr,
	    fremovexattr, tkill, sendfile64),
	TEN(futex, sched_setaffinity, sched_getaffinity, set_thread_area, get_thread_area, io_setup,
	    io_destroy, io_getevents, io_submit, io_cancel),
	TEN(fadvise64, _, exit_group, lookup_dcookie, epoll_create, epoll_ctl, epoll_wait,
	    remap_file_pages, set_tid_address, timer_create),
	TEN(timer_settime, timer_gettime, timer_getoverrun, timer_delete, clock_settime,
	    clock_gettime, clock_getres, clock_nanosleep, statfs64, fstatfs64),
	TEN(tgkill, utimes, fadvise64_64, vserver, mbind, get_mempolicy, set_mempolicy, mq_open,
	    mq_unlink, mq_timedsend),
	TEN(mq_timedreceive, mq_notify, mq_getsetattr, kexec_load, waitid, _, add_key, request_key,
	    keyctl, ioprio_set),
	TEN(ioprio_get, inotify_init, inotify_add_watch, inotify_rm_watch, migrate_pages, openat,
	    mkdirat, mknodat, fchownat, futimesat),
	TEN(fstatat64, unlinkat, renameat, linkat, symlinkat, readlinkat, fchmodat, faccessat,
	    pselect6, ppoll),
	TEN(unshare, set_robust_list, get_robust_list, splice, sync_file_range, tee, vmsplice,
	    move_pages, getcpu, epoll_pwait),
	TEN(utimensat, signalfd, timerfd_create, eventfd, fallocate, timerfd_settime,
	    timerfd_gettime, signalfd4, eventfd2, epoll_create1),
	TEN(dup3, pipe2, inotify_init1, preadv, pwritev, rt_tgsigqueueinfo, perf_event_open,
	    recvmmsg, fanotify_init, fanotify_mark),
	TEN(prlimit64, name_to_handle_at, open_by_handle_at, clock_adjtime, syncfs, sendmmsg, setns,
	    process_vm_readv, process_vm_writev, kcmp),
	TEN(finit_module, sched_setattr, sched_getattr, renameat2, seccomp, getrandom, memfd_create,
	    bpf, execveat, socket),
	TEN(socketpair, bind, connect, listen, accept4, getsockopt, setsockopt, getsockname,
	    getpeername, sendto),
	TEN(sendmsg, recvfrom, recvmsg, shutdown, userfaultfd, membarrier, mlock2, copy_file_range,
	    preadv2, pwritev2),
	TEN(pkey_mprotect, pkey_alloc, pkey_free, statx, arch_prctl, io_pgetevents, rseq, _, _, _),
	TEN(_, _, _, semget, semctl, shmget, shmctl, shmat, shmdt, msgget),
	TEN(msgsnd, msgrcv, msgctl, clock_gettime64, clock_settime64, clock_adjtime64,
	    clock_getres_time64, clock_nanosleep_time64, timer_gettime64, timer_settime64),
	TEN(timerfd_gettime64, timerfd_settime64, utimensat_time64, pselect6_time64, ppoll_time64,
	    _, io_pgetevents_time64, recvmmsg_time64, mq_timedsend_time64, mq_timedreceive_time64),
	TEN(semtimedop_time64, rt_sigtimedwait_time64, futex_time64, sched_rr_get_interval_time64,
	    _, _, _, _, _, _),
};

static const char *name_at(const char *const table[], size_t count, int32_t number)
{
	const char *name = number >= 0 && (size_t)number < count ? table[number] : NULL;

	return name && strcmp(name, "_") != 0 ? name : NULL;
}

const char *syscall_name(int32_t number)
{
	return name_at(names, COUNT_OF(names), number);
}

const char *syscall_name_i386(int32_t number)
{
	return number < COMMON ? name_at(names_i386, COUNT_OF(names_i386), number)
			       : syscall_name(number);
}
