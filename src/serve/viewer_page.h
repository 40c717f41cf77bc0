/* SPDX-License-Identifier: MIT */
/* The page that shows a trace, Perfetto's or the user's own instance, and its address. */
#pragma once

#include "src/options/selection.h"

/* Without --ui. */
#define VIEWER_PAGE_DEFAULT "https://ui.perfetto.dev"

/* The only port of 127.0.0.1 that Perfetto's page may connect to (Content-Security-Policy). */
#define VIEWER_PAGE_PORT 9001

/* The origin of this host's server. */
#define VIEWER_PAGE_TEXT_(port) #port
#define VIEWER_PAGE_TEXT(port)  VIEWER_PAGE_TEXT_(port)
#define VIEWER_PAGE_HOST        "127.0.0.1:" VIEWER_PAGE_TEXT(VIEWER_PAGE_PORT)
#define VIEWER_PAGE_OWN         "http://" VIEWER_PAGE_HOST

#define VIEWER_PAGE_ORIGIN_MOST 300

/*
 * Read the origin of a page's address, as browsers write it (RFC 6454, 6.2): in lower case, without
 * the scheme's default port and the path.  Returns false if the address is not http://HOST or
 * https://HOST, optionally with a port, a path and a query, all in ASCII.
 */
bool viewer_page_origin(const char *address, char origin[VIEWER_PAGE_ORIGIN_MOST]);

/*
 * Returns the path at which a file is served, "/RANDOM/NAME", owned by the caller; NULL: the system
 * has no random numbers.  NAME is the last part of `file`, with "_" for characters to escape.
 */
char *viewer_page_path(const char *file);

/*
 * Returns the address of the page with the trace at `path` of this host, owned by the
 * caller.  The page shows the time from `begin` to `end` (ns; Perfetto ignores times outside of
 * the trace) at first, and pins the threads `tids`.  Parameters: Perfetto's
 * docs/visualization/deep-linking-to-perfetto-ui.md.
 */
char *viewer_page_address(const char *page, const char *path, uint64_t begin, uint64_t end,
			  const struct number_list *tids);

/* Bytes at a file's beginning that show whether it is a trace, which needs no conversion. */
#define TRACE_KIND_BYTES 64

/*
 * Returns whether Perfetto opens a file that begins with these bytes, and this program does not
 * convert it: FTF, Perfetto's own format, JSON, or these compressed.  Perfetto's importers
 * recognise them by the same bytes (Sniff() below src/trace_processor/importers/).
 */
bool trace_kind_is_trace(const uint8_t *begin, size_t size);

/*
 * Open a trace of these kinds, or a page of --format=html (`page`).  Returns an owned descriptor;
 * -1: neither, or a recording that is packed.
 */
int trace_kind_open(const char *path, bool *page);

/*
 * Returns the commands that open an address, with ":" between them as in BROWSER, borrowed:
 * BROWSER's if it is set; else xdg-open(1), but only on a display of this host (DISPLAY or
 * WAYLAND_DISPLAY, without SSH_CONNECTION), as it would
 * start a text browser on the terminal.  NULL if there is no browser.
 */
const char *browser_commands(void);

/* Returns whether the user is on another host, by SSH_CONNECTION. */
bool browser_over_ssh(void);

/*
 * Returns the words of a command of `length` bytes, NULL after the last, with `address` for "%s" or
 * as another word; one allocation, owned by the caller.
 */
char **browser_words(const char *command, size_t length, const char *address);

/*
 * Start the first of the commands that succeeds with `address`, without waiting, in its own
 * session, so that Ctrl-C does not end it.  If all fail, a message is printed unless `quiet`.
 * Returns false if no process can be started.
 */
bool browser_start(const char *commands, const char *address, bool quiet);

/* ---- The server ---------------------------------------------------------- */

/*
 * The HTTP server of a trace, on this host only, for one page and until the page has it.
 *
 * It answers requests to 127.0.0.1:9001 by that name (against DNS rebinding), from the allowed page
 * only:
 *
 *   GET and HEAD of the path   200 and the whole file, also if a range is asked for
 *   OPTIONS of it, and /status 204: the answer to a page's preflight, also of a private network
 *   anything else              404: Perfetto's page asks POST /status for a trace_processor
 *   another Host or Origin     403
 *
 * libmicrohttpd handles the requests.  It is loaded at first use, because it needs GnuTLS and eight
 * more libraries: linking it would start each conversion 1.6 ms later.
 */
struct trace_server;

/*
 * Load the library and take the port.  Returns the socket, owned by the caller; -1 with err filled:
 * this build or this system has no libmicrohttpd, or another program has the port.
 */
int trace_server_listen(struct error *err);

/*
 * Serve the trace in the regular file `fd`.  `path` is the path in its address
 * (viewer_page_path()), `origin` the page's origin (viewer_page_origin(); NULL: the file is the
 * page); both are borrowed.  Takes ownership of `listener` and `fd`, also on failure.  Returns the
 * server, owned by the caller; NULL with err filled.
 */
struct trace_server *trace_server_open(int listener, int fd, const char *path, const char *origin,
				       struct error *err);

/*
 * Answer requests until the whole file was sent, without a timeout: the browser may ask its user
 * first.  Returns 0; -1 with err filled.
 */
int trace_server_run(struct trace_server *server, struct error *err);

/* NULL is allowed. */
void trace_server_close(struct trace_server *server);

/*
 * Connect to the host of a page, by its origin (viewer_page_origin()), for at most three seconds.
 * Nothing is sent.  Returns NULL if it can be reached, or this host cannot know: its browsers use a
 * proxy; else the reason, constant.
 */
const char *page_reach(const char *origin);
