/* SPDX-License-Identifier: MIT */
/*
 * Runs a command in a network of its own, which has only 127.0.0.0/8: a port that the program
 * cannot choose is free there, whatever other programs and tests do.
 *   private-network COMMAND...
 * Prints a TAP plan that skips all if the system allows no such network.
 */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return done;
}

/* An unprivileged user gets a network in a new user namespace. */
static bool leave_network(void)
{
	char users[64], groups[64];

	snprintf(users, sizeof(users), "%u %u 1", (unsigned)getuid(), (unsigned)getuid());
	snprintf(groups, sizeof(groups), "%u %u 1", (unsigned)getgid(), (unsigned)getgid());
	if (unshare(CLONE_NEWNET) == 0)
		return true;
	return unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0 &&
	       write_file("/proc/self/setgroups", "deny") &&
	       write_file("/proc/self/uid_map", users) && write_file("/proc/self/gid_map", groups);
}

static bool start_loopback(void)
{
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	return fd >= 0 && ioctl(fd, SIOCSIFFLAGS, &request) == 0 && close(fd) == 0;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 64;
	if (leave_network() && start_loopback())
		execvp(argv[1], argv + 1);
	printf("1..0 # SKIP no network of its own here: %s\n", strerror(errno));
	return 0;
}
