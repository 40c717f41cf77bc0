/* SPDX-License-Identifier: MIT */
/*
 * The Landlock half of the sandbox.  Rights and versions: the kernel's
 * Documentation/userspace-api/landlock.rst.
 */
#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/io/output.h"
#include "base/io/output_path.h"
#include "src/sandbox/sandbox.h"

/* Missing in the headers of Debian 12 or Ubuntu 22.04; each with its version of Landlock. */
#define FS_REFER     (UINT64_C(1) << 13) /* 2 */
#define FS_TRUNCATE  (UINT64_C(1) << 14) /* 3 */
#define FS_IOCTL_DEV (UINT64_C(1) << 15) /* 5 */
#define NET_TCP      UINT64_C(3)         /* 4: bind, connect */
#define SCOPES       UINT64_C(3)         /* 6: abstract sockets, signals */

#define FS_OF_FILES                                                                                \
	(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE |                               \
	 LANDLOCK_ACCESS_FS_WRITE_FILE | FS_TRUNCATE | FS_IOCTL_DEV)
#define READS (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
/* To create, write, rename and remove a file. */
#define WRITES                                                                                     \
	(READS | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG |                     \
	 LANDLOCK_ACCESS_FS_REMOVE_FILE | FS_TRUNCATE)
/* For a device or a fifo; isatty() is an ioctl(). */
#define WRITES_DEVICE (LANDLOCK_ACCESS_FS_WRITE_FILE | FS_IOCTL_DEV)

struct rules {
	int fd;
	uint64_t handled; /* rights of files that this kernel knows */
	bool failed;      /* a rule could not be made */
};

/* A missing file needs no rule; a file outside of file systems cannot have one (EBADFD). */
static void allow_path(struct rules *rules, const char *path, uint64_t rights)
{
	struct landlock_path_beneath_attr rule;
	struct stat status;

	if (!path)
		return;
	rule = (struct landlock_path_beneath_attr){ .parent_fd = open(path, O_PATH | O_CLOEXEC) };
	if (rule.parent_fd < 0) {
		rules->failed |= file_use_is_shortage(errno);
		return;
	}
	if (fstat(rule.parent_fd, &status) == 0 && !S_ISDIR(status.st_mode))
		rights &= FS_OF_FILES;
	rule.allowed_access = rights & rules->handled;
	if (syscall(SYS_landlock_add_rule, rules->fd, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) < 0)
		rules->failed |= file_use_is_shortage(errno);
	close(rule.parent_fd);
}

/* ---- Reading ------------------------------------------------------------- */

/* An overlay's argument is FILE,WORD,...; FILE may contain commas, too: allow each. */
static void allow_overlay(struct rules *rules, const char *text)
{
	char *path = alloc_text("%s", text), *comma;

	do {
		allow_path(rules, path, READS);
		comma = strrchr(path, ',');
		if (comma)
			*comma = '\0';
	} while (comma);
	free(path);
}

/* Makes the path of a file below the directory that a variable of the environment names. */
static bool path_below(char path[PATH_MAX], const char *variable, const char *name)
{
	const char *base = getenv(variable);

	return base && *base && snprintf(path, PATH_MAX, "%s%s", base, name) < PATH_MAX;
}

static void allow_reading(struct rules *rules, const struct options *options)
{
	/* For the C library (the machine, the time zone) and fault_watch(). */
	static const char *const system[] = { "/proc/self",       "/proc/sys/vm",
					      "/proc/meminfo",    "/sys/devices/system/cpu",
					      "/etc/localtime",   "/usr/share/zoneinfo",
					      "/dev/urandom",     "/proc/kallsyms",
					      "/sys/kernel/notes" };
	struct input_path named[INPUT_PATHS_MAX];
	size_t count = input_paths_list(options, named);
	char path[PATH_MAX];

	/* The debuginfod client reads certificates and the names of hosts. */
	if (!options->symfs || options->debuginfod) {
		allow_path(rules, "/", READS);
		return;
	}
	for (size_t i = 0; i < COUNT_OF(system); i++)
		allow_path(rules, system[i], READS);
	for (size_t i = 0; i < count; i++)
		allow_path(rules, named[i].path, READS);
	allow_path(rules, input_paths_core(options, path), READS);
	for (int i = 0; i < options->input_count; i++) {
		const char *input = options->inputs[i];

		snprintf(path, sizeof(path), "%.*s.", (int)(base_name(input) - input), input);
		allow_path(rules, input_paths_is_bundle(input) ? path : input, READS);
	}
	if (path_below(path, "HOME", "/.debug")) /* perf's build-id cache */
		allow_path(rules, path, READS);
	for (size_t i = 0; i < options->overlay_count; i++)
		allow_overlay(rules, options->overlays[i].text);
}

/* ---- Writing ------------------------------------------------------------- */

/* Returns whether a path is written directly (base/io/output.h). */
static bool is_device(const char *path)
{
	struct stat status;

	return path && stat(path, &status) == 0 && !S_ISDIR(status.st_mode) &&
	       (!S_ISREG(status.st_mode) || output_is_system_link(path));
}

bool sandbox_opens_devices(const struct options *options)
{
	return is_device(options->output) || is_device(options->json);
}

/* The cache of debuginfod_begin(3), which is created here: the client could not. */
static void allow_cache(struct rules *rules)
{
	static const char *const forms[][2] = {
		{ "DEBUGINFOD_CACHE_PATH", "" },
		{ "XDG_CACHE_HOME", "/debuginfod_client" },
		{ "HOME", "/.cache/debuginfod_client" },
		{ "HOME", "/.debuginfod_client_cache" },
	};
	/* A directory per build id. */
	const uint64_t rights =
		WRITES | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_REMOVE_DIR;
	char path[PATH_MAX];

	for (size_t i = 0; i < COUNT_OF(forms); i++) {
		if (!path_below(path, forms[i][0], forms[i][1]))
			continue;
		mkdir(path, 0700);
		allow_path(rules, path, rights);
	}
}

static void allow_writing(struct rules *rules, const struct options *options)
{
	if (is_device(options->output))
		allow_path(rules, options->output, WRITES_DEVICE);
	if (is_device(options->json))
		allow_path(rules, options->json, WRITES_DEVICE);
	if (options->debuginfod)
		allow_cache(rules);
}

/* ---- Both ---------------------------------------------------------------- */

static uint64_t rights_of_version(long version)
{
	/* Version 1 has all up to MAKE_SYM. */
	uint64_t rights = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;

	rights |= version >= 2 ? FS_REFER : 0;
	rights |= version >= 3 ? FS_TRUNCATE : 0;
	return rights | (version >= 5 ? FS_IOCTL_DEV : 0);
}

const char *sandbox_enter_files(enum sandbox_process process, const struct options *options)
{
	long version =
		syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	bool network = process == SANDBOX_CONVERSION && options->debuginfod, active;
	/* The newest struct landlock_ruleset_attr; older kernels accept zeros at its end. */
	struct {
		uint64_t fs, net, scopes;
	} ruleset = { .fs = rights_of_version(version),
		      .net = version >= 4 && !network ? NET_TCP : 0,
		      .scopes = version >= 6 ? SCOPES : 0 };
	struct rules rules = { .handled = ruleset.fs };

	if (version < 1)
		return "the system has no Landlock";
	rules.fd = (int)syscall(SYS_landlock_create_ruleset, &ruleset, sizeof(ruleset), 0);
	if (rules.fd < 0)
		return "Landlock rules cannot be created";
	if (process == SANDBOX_TOOL)
		allow_path(&rules, "/", READS | LANDLOCK_ACCESS_FS_EXECUTE);
	if (process == SANDBOX_CONVERSION) {
		allow_reading(&rules, options);
		allow_writing(&rules, options);
	}
	active = !rules.failed && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
		 syscall(SYS_landlock_restrict_self, rules.fd, 0) == 0;
	close(rules.fd);
	if (rules.failed)
		return "too few file descriptors, or too little memory, for the rules of Landlock";
	return active ? NULL : "Landlock cannot be entered";
}
