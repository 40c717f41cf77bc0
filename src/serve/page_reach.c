/* SPDX-License-Identifier: MIT */
/* Tries the connection in a process of its own: a look-up of a name has no limit of time. */
#include "src/serve/trace_server.h"

#include <netdb.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/serve/viewer_page.h"

#define SECONDS 3

enum reach { REACHED, NO_NAME, NO_CONNECTION };

static bool has_proxy(void)
{
	static const char *const variables[] = { "http_proxy",  "HTTP_PROXY", "https_proxy",
						 "HTTPS_PROXY", "all_proxy",  "ALL_PROXY" };

	for (size_t i = 0; i < COUNT_OF(variables); i++)
		if (getenv(variables[i]))
			return true;
	return false;
}

static _Noreturn void try_to_connect(const char *origin)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	char host[VIEWER_PAGE_ORIGIN_MOST];
	const char *port;
	char *colon;
	struct addrinfo *list = NULL;

	signal(SIGALRM, SIG_DFL);
	alarm(SECONDS);
	strcpy(host, strstr(origin, "//") + 2);
	colon = strchr(host, ':');
	port = colon ? colon + 1 : starts_with(origin, "https") ? "443" : "80";
	if (colon)
		*colon = '\0';
	if (getaddrinfo(host, port, &hints, &list) != 0)
		_exit(NO_NAME);
	for (; list; list = list->ai_next) {
		int fd = socket(list->ai_family, list->ai_socktype | SOCK_CLOEXEC, 0);

		if (fd >= 0 && connect(fd, list->ai_addr, list->ai_addrlen) == 0)
			_exit(REACHED);
	}
	_exit(NO_CONNECTION);
}

const char *page_reach(const char *origin)
{
	pid_t child = has_proxy() ? -1 : fork();
	int status;

	if (child == 0)
		try_to_connect(origin);
	if (child < 0 || waitpid(child, &status, 0) != child)
		return NULL;
	if (!WIFEXITED(status))
		return "no answer within 3 seconds";
	if (WEXITSTATUS(status) == NO_NAME)
		return "its name cannot be looked up";
	return WEXITSTATUS(status) == REACHED ? NULL : "no connection";
}
