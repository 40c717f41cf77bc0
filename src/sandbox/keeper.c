/* SPDX-License-Identifier: MIT */
/* The keeper's process, and the requests to it over a pair of sockets. */
#include "src/sandbox/sandbox.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/io/cache_files.h"
#include "base/io/file_makers.h"
#include "base/io/output_path.h"
#include "base/io/temp_file.h"
#include "base/tables/hash.h"
#include "src/formats/output_format.h"

/* Time that an ending process waits for its files to be removed. */
#define LEAVE_MS 2000

/* The arguments of file_make(); strings end in NUL. */
struct request {
	uint32_t operation; /* enum file_operation */
	char path[PATH_MAX];
	char other[PATH_MAX];
};

union passed_descriptor {
	struct cmsghdr header; /* for the alignment */
	char bytes[CMSG_SPACE(sizeof(int))];
};

static bool opens_file(uint32_t operation)
{
	return operation == FILE_CREATE || operation == FILE_CREATE_NAMELESS ||
	       operation == FILE_CACHE;
}

/* ---- The keeper ---------------------------------------------------------- */

struct keeper {
	char *outputs[2]; /* owned; may be NULL */
	bool split;       /* the first of them is written in parts */
	bool tables;      /* and beside it are others, in folders of tables */
	bool caches;      /* files of the cache may be made */
	size_t next_part;
	int pid; /* the conversion's process */
	/* A file that the keeper made; a trace may have 100,000 parts. */
	struct made {
		char *temporary; /* owned */
		char *path;      /* owned: its final path */
		bool renamed;    /* from `temporary` to `path`: its name now, and the key */
		UT_hash_handle hh;
	} * files; /* owned: hash */
};

static int refuse(void)
{
	errno = EACCES;
	return -1;
}

static bool is_temporary_of(const struct keeper *keeper, const char *name, const char *path)
{
	char expected[PATH_MAX + 40];

	for (int i = 0; i < OUTPUT_NAME_TRIES; i++) {
		output_name_temporary(expected, sizeof(expected), path, keeper->pid, i);
		if (strcmp(expected, name) == 0)
			return true;
	}
	return false;
}

/* Returns whether a path is that of a table beside the first output, or of its temporary file. */
static bool is_of_table(const struct keeper *keeper, const char *path)
{
	const char *output = keeper->tables ? keeper->outputs[0] : NULL;
	size_t folder = output ? (size_t)(base_name(output) - output) : 0;

	return output && strncmp(path, output, folder) == 0 &&
	       fnmatch("[a-z]*/date=*/host=*/build=*/*", path + folder, FNM_PATHNAME) == 0;
}

/* Returns the final path of the temporary file `name`, owned by the caller, or NULL. */
static char *final_path_of(struct keeper *keeper, const char *name)
{
	char *part;

	for (size_t i = 0; i < COUNT_OF(keeper->outputs); i++) {
		if (keeper->outputs[i] && is_temporary_of(keeper, name, keeper->outputs[i]))
			return alloc_text("%s", keeper->outputs[i]);
	}
	if (is_of_table(keeper, name)) {
		part = alloc_text("%.*s%s", (int)(base_name(name) - name), name,
				  base_name(keeper->outputs[0]));
		if (is_temporary_of(keeper, name, part))
			return part;
		free(part);
	}
	if (!keeper->split || !keeper->outputs[0])
		return NULL;
	/* The parts are made in order; a name may be tried again. */
	for (size_t back = 0; back < 2 && back <= keeper->next_part; back++) {
		part = output_path_part(keeper->outputs[0], keeper->next_part - back);
		if (is_temporary_of(keeper, name, part)) {
			keeper->next_part += back == 0;
			return part;
		}
		free(part);
	}
	return NULL;
}

static void forget_file(struct keeper *keeper, struct made *made)
{
	HASH_DEL(keeper->files, made);
	free(made->temporary);
	free(made->path);
	free(made);
}

/* Returns the file of a name; NULL if the keeper did not make it. */
static struct made *find_made(const struct keeper *keeper, const char *name)
{
	struct made *made;

	HASH_FIND_STR(keeper->files, name, made);
	return made;
}

/* Put the file into the table; it replaces an older one of that name. */
static void keep_made(struct keeper *keeper, struct made *made)
{
	const char *name = made->renamed ? made->path : made->temporary;
	struct made *older = find_made(keeper, name);

	if (older)
		forget_file(keeper, older);
	HASH_ADD_KEYPTR(hh, keeper->files, name, strlen(name), made);
}

/* The file is in the table before it exists: remove_temporaries() knows it in any case. */
static int create_file(struct keeper *keeper, const char *name)
{
	char *path = final_path_of(keeper, name);
	struct made *made;
	int fd;

	if (!path)
		return refuse();
	made = alloc_zeroed(1, sizeof(*made));
	made->temporary = alloc_text("%s", name);
	made->path = path;
	keep_made(keeper, made);
	fd = file_make_own(FILE_CREATE, name, path);
	if (fd < 0)
		forget_file(keeper, made);
	return fd;
}

static int move_file(struct keeper *keeper, const char *from, const char *to)
{
	struct made *made = find_made(keeper, from);

	if (!made || made->renamed || strcmp(made->path, to) != 0)
		return refuse();
	if (rename(from, to) < 0)
		return -1;
	HASH_DEL(keeper->files, made);
	made->renamed = true;
	keep_made(keeper, made);
	return 0;
}

static int remove_file(struct keeper *keeper, const char *path)
{
	struct made *made = find_made(keeper, path);

	if (!made)
		return refuse();
	if (unlink(path) < 0)
		return -1;
	forget_file(keeper, made);
	return 0;
}

/* Returns the descriptor if the operation opens a file, else 0; -1 with errno. */
static int serve_request(struct keeper *keeper, const struct request *request)
{
	enum file_operation operation = (enum file_operation)request->operation;
	const char *path = request->path;
	const struct made *made;
	bool may = false;

	switch (operation) {
	case FILE_CREATE:
		return create_file(keeper, path);
	case FILE_MOVE:
		return move_file(keeper, path, request->other);
	case FILE_REMOVE:
		return remove_file(keeper, path);
	case FILE_FOLDERS:
		return is_of_table(keeper, path)
			       ? output_path_make_parents(path, &(struct error){ 0 })
			       : refuse();
	case FILE_CREATE_NAMELESS:
		may = strcmp(path, temp_file_folder()) == 0;
		break;
	case FILE_MARK:
		made = find_made(keeper, path);
		may = made && made->renamed;
		break;
	case FILE_CACHE:
		return keeper->caches ? cache_file_make(operation, path) : refuse();
	case FILE_CACHE_KEEP:
	case FILE_CACHE_DROP:
		return cache_file_make(operation, path);
	default:
		errno = EINVAL;
		return -1;
	}
	return may ? file_make_own(operation, path, request->other) : refuse();
}

/* Send an errno and `fd` (-1: none), or why that failed.  Returns whether an answer was sent. */
static bool send_answer(int socket, int errnum, int fd)
{
	union passed_descriptor control = { .bytes = { 0 } };
	struct iovec data = { &errnum, sizeof(errnum) };
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1 };

	if (fd >= 0) {
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	}
	if (sendmsg(socket, &message, MSG_NOSIGNAL) >= 0)
		return true;
	return fd >= 0 && send_answer(socket, errno, -1);
}

static struct keeper own;

/* Also when memory runs out: alloc_fail_hook. */
static void remove_temporaries(void)
{
	for (const struct made *made = own.files; made; made = made->hh.next)
		if (!made->renamed)
			unlink(made->temporary);
	cache_file_make(FILE_CACHE_DROP, NULL);
}

static _Noreturn void answer_requests(struct keeper *keeper, int socket)
{
	static struct request request;
	bool answered = true;
	ssize_t size;

	while (answered && ((size = recv(socket, &request, sizeof(request), 0)) > 0 ||
			    (size < 0 && errno == EINTR))) {
		int result, fd;

		if (size != (ssize_t)sizeof(request))
			continue;
		request.path[PATH_MAX - 1] = request.other[PATH_MAX - 1] = 0;
		result = serve_request(keeper, &request);
		fd = opens_file(request.operation) ? result : -1;
		answered = send_answer(socket, result < 0 ? errno : 0, fd);
		if (fd >= 0)
			close(fd);
	}
	remove_temporaries();
	_exit(0);
}

/* Returns the name of an output, owned by the caller; NULL without one, or for standard output. */
static char *copy_of_file(const char *path)
{
	return path && *path && strcmp(path, "-") != 0 ? alloc_text("%s", path) : NULL;
}

/* The keeper's own process: all descriptors but those to the conversion are closed. */
static _Noreturn void begin_keeping(const struct options *options, int pid, int socket, int gone)
{
	sigset_t all;

	own = (struct keeper){ .pid = pid,
			       .split = options->select.split.unit != 0,
			       .tables = options->format && options->format->tables };
	alloc_fail_hook = remove_temporaries;
	/* Signals that end the conversion must not end this process, too. */
	setsid();
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	prctl(PR_SET_NAME, "p2f-files");
	/* No output may get the number of standard error, to which libraries print. */
	if (dup2(socket, STDIN_FILENO) < 0 || dup2(gone, STDOUT_FILENO) < 0 ||
	    dup2(gone, STDERR_FILENO) < 0)
		_exit(EXIT_FAILURE);
	close_from(STDERR_FILENO + 1);
	own.outputs[0] = copy_of_file(options->output);
	own.outputs[1] = copy_of_file(options->json);
	own.caches = options_caches(options);
	answer_requests(&own, STDIN_FILENO);
}

/* ---- The conversion ------------------------------------------------------ */

static int own_socket = -1, own_gone = -1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Returns 0, with the answer's descriptor, or -1, in *fd; -1 with errno. */
static int read_answer(int *fd)
{
	union passed_descriptor control;
	int errnum = EIO;
	struct iovec data = { &errnum, sizeof(errnum) };
	struct msghdr message = { .msg_iov = &data,
				  .msg_iovlen = 1,
				  .msg_control = control.bytes,
				  .msg_controllen = sizeof(control.bytes) };
	const struct cmsghdr *passed;
	ssize_t size;

	do
		size = recvmsg(own_socket, &message, MSG_CMSG_CLOEXEC);
	while (size < 0 && errno == EINTR);
	if (size < 0) {
		/* The answer may still arrive, and must not be taken for another request's. */
		errnum = errno;
		shutdown(own_socket, SHUT_RDWR);
		errno = errnum;
		return -1;
	}
	passed = CMSG_FIRSTHDR(&message);
	if (passed && passed->cmsg_level == SOL_SOCKET && passed->cmsg_type == SCM_RIGHTS &&
	    passed->cmsg_len == CMSG_LEN(sizeof(*fd)))
		memcpy(fd, CMSG_DATA(passed), sizeof(*fd));
	/* The kernel cuts off a descriptor for which this process has no number left: unix(7). */
	if (message.msg_flags & MSG_CTRUNC)
		errnum = EMFILE;
	else if (size != (ssize_t)sizeof(errnum) || (message.msg_flags & MSG_TRUNC))
		errnum = EIO;
	errno = errnum;
	return errnum ? -1 : 0;
}

/* Also in a signal handler, which may have interrupted ask(). */
static int leave_files(void)
{
	struct pollfd gone = { .fd = own_gone };

	shutdown(own_socket, SHUT_WR);
	/* The pipe closes when the keeper ends. */
	while (poll(&gone, 1, LEAVE_MS) < 0 && errno == EINTR)
		;
	return 0;
}

static int ask(enum file_operation operation, const char *path, const char *other)
{
	static struct request request;
	int fd = -1, status = -1;
	ssize_t sent;

	if (operation == FILE_LEAVE)
		return leave_files();
	path = path ? path : "";
	other = other ? other : "";
	if (strlen(path) >= PATH_MAX || strlen(other) >= PATH_MAX) {
		errno = ENAMETOOLONG;
		return -1;
	}
	pthread_mutex_lock(&lock);
	request.operation = operation;
	strcpy(request.path, path);
	strcpy(request.other, other);
	do
		sent = send(own_socket, &request, sizeof(request), MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	if (sent >= 0)
		status = read_answer(&fd);
	pthread_mutex_unlock(&lock);
	if (status == 0 && opens_file(operation) == (fd >= 0))
		return opens_file(operation) ? fd : 0;
	errno = status < 0 ? errno : EIO;
	if (fd >= 0)
		close(fd);
	return -1;
}

const char *keeper_start(const struct options *options)
{
	int ends[2] = { -1, -1 }, gone[2] = { -1, -1 }, pid = (int)getpid();
	pid_t child = -1;

	/* Nobody waits for it: it ends just before this process, which collects no status. */
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0 &&
	    pipe2(gone, O_CLOEXEC) == 0)
		child = fork();
	if (child == 0)
		begin_keeping(options, pid, ends[1], gone[1]);
	close(ends[1]);
	close(gone[1]);
	if (child < 0) {
		close(ends[0]);
		close(gone[0]);
		return "no process can be started for the files";
	}
	own_socket = ends[0];
	own_gone = gone[0];
	file_make = ask;
	return NULL;
}

int keeper_socket(void)
{
	return own_socket;
}
