/* SPDX-License-Identifier: MIT */
/* Replaces trace_server.c and page_reach.c in a build without libmicrohttpd. */

#include "src/serve/trace_server.h"

int trace_server_listen(struct error *err)
{
	return error_set(
		err, ERROR_UNSUPPORTED,
		"cannot show a trace: this build has no server (configure "
		"--without-libmicrohttpd); convert with -o FILE and open FILE in "
		"Perfetto, or -o FILE.html and open it in a browser, or build with Debian's libmicrohttpd-dev");
}

struct trace_server *trace_server_open(int listener, int fd, const char *path, const char *origin,
				       struct error *err)
{
	(void)listener;
	(void)fd;
	(void)path;
	(void)origin;
	trace_server_listen(err);
	return NULL;
}

int trace_server_run(struct trace_server *server, struct error *err)
{
	(void)server;
	return trace_server_listen(err);
}

void trace_server_close(struct trace_server *server)
{
	(void)server;
}

const char *page_reach(const char *origin)
{
	(void)origin;
	return NULL;
}
