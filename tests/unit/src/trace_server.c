/* SPDX-License-Identifier: MIT */
/* The server of `ptrace2ftf open`: who gets the trace, and when it ends. */
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/serve/viewer_page.h"
#include "tests/support/unit.h"

#define PATH_OF_TRACE "/0123/a.ftf"
#define PAGE          "https://ui.perfetto.dev"
#define HOST          "Host: 127.0.0.1:9001\r\n"
#define FROM_PAGE     HOST "Origin: " PAGE "\r\n"

static const char content[] = "0123456789";

/* Returns a socket that listens at a port of its own, or connects to that port (not 0). */
static int loopback(uint16_t *port)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = *port,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | (*port ? 0 : SOCK_NONBLOCK), 0);

	ck_assert_int_ge(fd, 0);
	if (*port) {
		ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, size), 0);
		return fd;
	}
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, size), 0);
	ck_assert_int_eq(listen(fd, 5), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&address, &size), 0);
	*port = address.sin_port;
	return fd;
}

/* Serves the trace in a process of its own, which ends when the trace was sent. */
static pid_t serve(const char *origin, uint16_t *port)
{
	char path[] = "/tmp/ptrace2ftf-XXXXXX";
	int fd = mkstemp(path), listener;
	struct error err = { 0 };
	struct trace_server *server;
	pid_t child;

	unlink(path);
	ck_assert_int_eq(write(fd, content, 10), 10);
	listener = trace_server_listen(&err); /* loads the library, whoever has the port */
	if (listener >= 0)
		close(listener);
	if (err.kind == ERROR_LIBRARY)
		return -1;
	*port = 0;
	listener = loopback(port);
	child = fork();
	if (child) {
		close(listener);
		close(fd);
		return child;
	}
	server = trace_server_open(listener, fd, PATH_OF_TRACE, origin, &err);
	if (!server || trace_server_run(server, &err) < 0)
		_exit(1);
	trace_server_close(server);
	_exit(0);
}

/* Returns the answer to a request. */
static const char *ask(uint16_t port, const char *line, const char *headers)
{
	static char text[2000];
	size_t length = 0;
	ssize_t size;
	int fd = loopback(&port);

	length = (size_t)sprintf(text, "%s HTTP/1.1\r\n%s\r\n", line, headers);
	ck_assert_int_eq(write(fd, text, length), (ssize_t)length);
	shutdown(fd, SHUT_WR);
	for (length = 0; (size = read(fd, text + length, sizeof(text) - 1 - length)) > 0;)
		length += (size_t)size;
	close(fd);
	text[length] = '\0';
	return text;
}

/* A page of another origin, or at another name of this host, must learn nothing. */
static const struct {
	const char *line, *headers, *status;
} requests[] = {
	{ "GET /", FROM_PAGE, "404" },
	{ "GET /0123/b.ftf", FROM_PAGE, "404" },
	{ "GET /status", FROM_PAGE, "404" },
	{ "GET " PATH_OF_TRACE, "Origin: " PAGE "\r\nHost: localhost:9001\r\n", "403" },
	{ "GET " PATH_OF_TRACE, HOST "Origin: https://evil.example\r\n", "403" },
	{ "GET " PATH_OF_TRACE, HOST "Origin: null\r\n", "403" },
	{ "OPTIONS " PATH_OF_TRACE, HOST "Origin: https://evil.example\r\n", "403" },
	{ "POST " PATH_OF_TRACE, FROM_PAGE "Content-Length: 0\r\n", "404" },
	{ "POST /status", FROM_PAGE "Content-Length: 0\r\n", "404" },
	{ "OPTIONS " PATH_OF_TRACE, FROM_PAGE, "204" },
	{ "OPTIONS /status", FROM_PAGE, "204" },
	{ "OPTIONS /other", FROM_PAGE, "404" },
	{ "HEAD " PATH_OF_TRACE, FROM_PAGE, "200" },
	{ "HEAD " PATH_OF_TRACE, HOST, "200" },
	{ "HEAD /other", FROM_PAGE, "404" },
};

static void expect_end(pid_t child)
{
	int status;

	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

START_TEST(a_trace_is_served_to_its_page_alone)
{
	uint16_t port;
	pid_t child = serve(PAGE, &port);
	const char *text;
	int status;

	if (child < 0)
		return; /* without the library */
	for (size_t i = 0; i < COUNT_OF(requests); i++) {
		text = ask(port, requests[i].line, requests[i].headers);
		ck_assert_msg(strncmp(text, "HTTP/1.1 ", 9) == 0 &&
				      strncmp(text + 9, requests[i].status, 3) == 0,
			      "%s: %s", requests[i].line, text);
		ck_assert_msg(!strstr(text, content), "%s", requests[i].line);
		ck_assert_int_eq(strstr(text, "Access-Control-Allow-Origin: " PAGE "\r\n") != NULL,
				 strcmp(requests[i].status, "403") != 0);
	}
	text = ask(port, "OPTIONS " PATH_OF_TRACE, FROM_PAGE);
	ck_assert_ptr_nonnull(strstr(text, "Access-Control-Allow-Methods: GET, POST\r\n"));
	ck_assert_ptr_nonnull(strstr(text, "Access-Control-Allow-Private-Network: true\r\n"));
	/* It ends with the trace, not before. */
	ck_assert_int_eq(waitpid(child, &status, WNOHANG), 0);
	text = ask(port, "GET " PATH_OF_TRACE, FROM_PAGE);
	ck_assert_ptr_nonnull(strstr(text, "Content-Type: application/octet-stream\r\n"));
	ck_assert_ptr_nonnull(strstr(text, "Content-Length: 10\r\n"));
	ck_assert_str_eq(strstr(text, "\r\n\r\n") + 4, content);
	expect_end(child);
}
END_TEST

/* --format=html: the file is the page, which asks for nothing. */
START_TEST(a_page_is_served_to_no_page)
{
	uint16_t port;
	pid_t child = serve(NULL, &port);

	if (child < 0)
		return;
	ck_assert_int_eq(strncmp(ask(port, "GET " PATH_OF_TRACE, FROM_PAGE), "HTTP/1.1 403", 12),
			 0);
	ck_assert_ptr_nonnull(
		strstr(ask(port, "GET " PATH_OF_TRACE, HOST), "Content-Type: text/html\r\n"));
	expect_end(child);
}
END_TEST

START_TEST(a_page_can_be_reached_if_its_port_accepts)
{
	char origin[60];
	uint16_t port = 0;
	int fd = loopback(&port);

	unsetenv("http_proxy");
	unsetenv("HTTP_PROXY");
	unsetenv("https_proxy");
	unsetenv("HTTPS_PROXY");
	unsetenv("all_proxy");
	unsetenv("ALL_PROXY");
	sprintf(origin, "http://127.0.0.1:%d", ntohs(port));
	ck_assert_ptr_null(page_reach(origin));
	close(fd);
	ck_assert_str_eq(page_reach(origin), "no connection");
	/* This host does not know what its proxy reaches. */
	setenv("ALL_PROXY", "http://proxy.example", 1);
	ck_assert_ptr_null(page_reach(origin));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("trace_server");
	TCase *all = tcase_create("trace_server");

	tcase_add_test(all, a_trace_is_served_to_its_page_alone);
	tcase_add_test(all, a_page_is_served_to_no_page);
	tcase_add_test(all, a_page_can_be_reached_if_its_port_accepts);
	suite_add_tcase(suite, all);
	return unit_run_apart(suite);
}
