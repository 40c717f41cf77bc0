/* SPDX-License-Identifier: MIT */
/* The answers of the server, by libmicrohttpd. */
#include "src/serve/viewer_page.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * A connection takes at most 32 KiB, and a descriptor below FD_SETSIZE.  The library resets
 * connections beyond the limit, so idle ones must not stay.
 */
#define CONNECTIONS_MOST 500
#define IDLE_SECONDS     3

/* Time for a connection to the viewer's page. */
#define REACH_SECONDS 3

#define ALLOW_ORIGIN  "Access-Control-Allow-Origin"
#define ALLOW_METHODS "Access-Control-Allow-Methods"
/* For browsers that ask the server instead of the user: Chromium 104 to 141. */
#define ALLOW_PRIVATE "Access-Control-Allow-Private-Network"

/* ---- The library --------------------------------------------------------- */

/* Its functions, by their names without "MHD_". */
#define FUNCTIONS(X)                                                                               \
	X(start_daemon)                                                                            \
	X(stop_daemon)                                                                             \
	X(run_wait)                                                                                \
	X(create_response_from_fd64)                                                               \
	X(create_response_from_buffer)                                                             \
	X(add_response_header)                                                                     \
	X(queue_response)                                                                          \
	X(set_connection_option)                                                                   \
	X(destroy_response)                                                                        \
	X(lookup_connection_value)

#define FIELD(name) __typeof__(MHD_##name) *name;

static struct {
	FUNCTIONS(FIELD)
} mhd;

/* Returns 0; -1 with err filled. */
static int load_library(struct error *err)
{
	void *handle = dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL);
	bool whole = handle;

#define FIND(name) whole = whole && (*(void **)&mhd.name = dlsym(handle, "MHD_" #name));
	FUNCTIONS(FIND)
	if (whole)
		return 0;
	return error_set(err, ERROR_LIBRARY,
			 "cannot show a trace: %s; install Debian's libmicrohttpd12, or convert "
			 "with -o FILE and open FILE in Perfetto",
			 dlerror());
}

/* ---- The port ------------------------------------------------------------ */

static int listen_at_port(int fd)
{
	const struct sockaddr_in address = { .sin_family = AF_INET,
					     .sin_port = htons(VIEWER_PAGE_PORT),
					     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int on = 1;

	/* Closed connections of an earlier run may still hold the port. */
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
	    bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return -1;
	return listen(fd, SOMAXCONN);
}

int trace_server_listen(struct error *err)
{
	int fd;

	if (load_library(err) < 0)
		return -1;
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0 && listen_at_port(fd) == 0)
		return fd;
	if (errno == EADDRINUSE)
		error_set(err, ERROR_SYSTEM,
			  "cannot listen at " VIEWER_PAGE_HOST
			  ": another program listens there, and Perfetto's page "
			  "connects to no other port; end it (trace_processor --httpd, another "
			  "`ptrace2ftf open`; `ss -tlnp` lists them)");
	else
		error_set_system(err, errno, "cannot listen at " VIEWER_PAGE_HOST);
	if (fd >= 0)
		close(fd);
	return -1;
}

/* ---- Answers ------------------------------------------------------------- */

struct trace_server {
	struct MHD_Daemon *daemon; /* owned */
	const char *path;          /* borrowed: of the trace's address */
	const char *origin;        /* borrowed: of the page; NULL: the file is the page */
	struct MHD_Response *file, *none, *options; /* owned */
	bool whole;                                 /* the file was sent */
};

/* The state of a request; its address identifies it. */
static char begun, fetching;

static bool has_header(struct MHD_Connection *connection, const char *name, const char *value)
{
	const char *found = mhd.lookup_connection_value(connection, MHD_HEADER_KIND, name);

	return found && strcmp(found, value) == 0;
}

static struct MHD_Response *make_empty(void)
{
	return mhd.create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
}

/* MHD_AccessHandlerCallback: called when a request begins, for its body, and at its end. */
static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *path,
			      const char *method, const char *version, const char *body,
			      size_t *body_size, void **request)
{
	struct trace_server *server = context;
	bool is_file = strcmp(path, server->path) == 0;

	(void)version;
	(void)body;
	if (!*request || *body_size) {
		*request = &begun;
		*body_size = 0;
		return MHD_YES;
	}
	if (!(has_header(connection, "Host", VIEWER_PAGE_HOST) &&
	      (!mhd.lookup_connection_value(connection, MHD_HEADER_KIND, "Origin") ||
	       (server->origin && has_header(connection, "Origin", server->origin))))) {
		struct MHD_Response *response = make_empty();
		enum MHD_Result result =
			mhd.queue_response(connection, MHD_HTTP_FORBIDDEN, response);

		mhd.destroy_response(response);
		return result;
	}
	if (strcmp(method, "OPTIONS") == 0 && (is_file || strcmp(path, "/status") == 0))
		return mhd.queue_response(connection, MHD_HTTP_NO_CONTENT, server->options);
	if (!is_file || (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0))
		return mhd.queue_response(connection, MHD_HTTP_NOT_FOUND, server->none);
	if (strcmp(method, "GET") == 0) {
		*request = &fetching;
		/* A page that is busy may pause. */
		mhd.set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, 0u);
	}
	return mhd.queue_response(connection, MHD_HTTP_OK, server->file);
}

/* MHD_RequestCompletedCallback. */
static void complete(void *context, struct MHD_Connection *connection, void **request,
		     enum MHD_RequestTerminationCode how)
{
	struct trace_server *server = context;

	(void)connection;
	if (*request == &fetching && how == MHD_REQUEST_TERMINATED_COMPLETED_OK)
		server->whole = true;
}

/* ---- The server ---------------------------------------------------------- */

/* Headers as "NAME", "VALUE", ..., NULL.  Returns whether the response has them all. */
static bool add_headers(struct MHD_Response *response, ...)
{
	bool added = response;
	const char *name;
	va_list list;

	va_start(list, response);
	while (added && (name = va_arg(list, const char *)))
		added = mhd.add_response_header(response, name, va_arg(list, const char *)) ==
			MHD_YES;
	va_end(list);
	return added;
}

/* Returns false for lack of memory. */
static bool make_responses(struct trace_server *server, int fd, uint64_t size)
{
	const char *origin = server->origin ? server->origin : VIEWER_PAGE_OWN;
	const char *type = server->origin ? "application/octet-stream" : "text/html";
	const char *no = NULL;

	server->file = mhd.create_response_from_fd64(size, fd);
	server->none = make_empty();
	server->options = make_empty();
	/* The connection is closed: the page's next request must not be cut with it. */
	return add_headers(server->file, ALLOW_ORIGIN, origin, "Cache-Control", "no-cache",
			   "Content-Type", type, "X-Content-Type-Options", "nosniff",
			   "Accept-Ranges", "none", "Connection", "close", no) &&
	       add_headers(server->none, ALLOW_ORIGIN, origin, "Cache-Control", "no-cache", no) &&
	       add_headers(server->options, ALLOW_ORIGIN, origin, ALLOW_METHODS, "GET, POST",
			   ALLOW_PRIVATE, "true", no);
}

struct trace_server *trace_server_open(int listener, int fd, const char *path, const char *origin,
				       struct error *err)
{
	struct trace_server *server = calloc(1, sizeof(*server));
	struct stat status;

	if (server && fstat(fd, &status) == 0) {
		server->path = path;
		server->origin = origin;
		if (make_responses(server, fd, (uint64_t)status.st_size))
			server->daemon = mhd.start_daemon(
				0, 0, NULL, NULL, answer, server, MHD_OPTION_LISTEN_SOCKET,
				listener, MHD_OPTION_NOTIFY_COMPLETED, complete, server,
				MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MOST,
				MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS, MHD_OPTION_END);
	}
	if (server && server->daemon)
		return server;
	error_set(err, ERROR_LIBRARY, "cannot start the server: libmicrohttpd refused");
	trace_server_close(server);
	return NULL;
}

int trace_server_run(struct trace_server *server, struct error *err)
{
	while (!server->whole)
		if (mhd.run_wait(server->daemon, -1) != MHD_YES && errno != EINTR)
			return error_set_system(err, errno, "cannot wait for requests");
	return 0;
}

void trace_server_close(struct trace_server *server)
{
	if (!server)
		return;
	/* The library ignores null pointers. */
	mhd.stop_daemon(server->daemon);
	mhd.destroy_response(server->file);
	mhd.destroy_response(server->none);
	mhd.destroy_response(server->options);
	free(server);
}

/* ---- Whether the page can be fetched ------------------------------------- */

/* Try the connection in a separate process: name lookup has no timeout. */
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

const char *page_reach(const char *origin)
{
	pid_t child = has_proxy() ? -1 : fork();
	int status;

	if (child == 0) {
		const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
		char host[VIEWER_PAGE_ORIGIN_MOST];
		const char *port;
		char *colon;
		struct addrinfo *list = NULL;

		signal(SIGALRM, SIG_DFL);
		alarm(REACH_SECONDS);
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
	if (child < 0 || waitpid(child, &status, 0) != child)
		return NULL;
	if (!WIFEXITED(status))
		return "no answer within 3 seconds";
	if (WEXITSTATUS(status) == NO_NAME)
		return "its name cannot be looked up";
	return WEXITSTATUS(status) == REACHED ? NULL : "no connection";
}
