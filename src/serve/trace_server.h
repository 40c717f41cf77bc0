/* SPDX-License-Identifier: MIT */
/*
 * The HTTP server of a trace, on this host only, for one page and until the page has it.
 *
 * It answers requests to 127.0.0.1:9001 by that name (a page of another host cannot come here by a
 * name of its own that it resolves to this address), of no other page than the one allowed:
 *
 *   GET and HEAD of the path   200 and the whole file, also if a range is asked for
 *   OPTIONS of it, and /status 204: the answer to a page's preflight, also of a private network
 *   anything else              404: Perfetto's page asks POST /status for a trace_processor
 *   another Host or Origin     403
 *
 * Requests and answers are libmicrohttpd's work.  It is loaded at the first use, as it needs
 * GnuTLS and eight more libraries: linked, each conversion would begin 1.6 ms later.
 */
#ifndef SRC_SERVE_TRACE_SERVER_H
#define SRC_SERVE_TRACE_SERVER_H

#include "base/common.h"

struct trace_server;

/*
 * Load the library and take the port.  Returns the socket, owned by the caller; -1 with err filled:
 * this build or this system has no libmicrohttpd, or another program has the port.
 */
int trace_server_listen(struct error *err);

/*
 * Serve the trace in the regular file `fd`.  `path` is that of its address (viewer_page_path()),
 * `origin` that of the page (viewer_page_origin(); NULL: the file is the page); both are borrowed.
 * Returns the server, owned by the caller, which owns `listener` and the file from now on,
 * also if it fails; NULL with err filled.
 */
struct trace_server *trace_server_open(int listener, int fd, const char *path, const char *origin,
				       struct error *err);

/*
 * Answer requests until the file was sent whole.  There is no limit of time: the browser may ask
 * its user first.  Returns 0; -1 with err filled.
 */
int trace_server_run(struct trace_server *server, struct error *err);

/* NULL is allowed. */
void trace_server_close(struct trace_server *server);

/* Whether the viewer's page can be fetched. */

/*
 * Connect to the host of a page, by its origin (viewer_page_origin()), for at most three seconds.
 * Nothing is sent.  Returns NULL if it can be reached, or this host cannot know: its browsers use a
 * proxy; else the reason, constant.
 */
const char *page_reach(const char *origin);

#endif
