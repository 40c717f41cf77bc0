/* SPDX-License-Identifier: MIT */
/* Lists the paths of debug files and opens the first file that fits. */
#include "symbols/files/debug_file.h"

#include <dlfcn.h>
#include <elfutils/libdwelf.h>
#include <stdarg.h>
#include <unistd.h>
#include <zlib.h>

#include "config.h"
#include "symbols/files/unpack.h"

/* The client stays open to keep its connections.  One thread at a time uses it (dso_store.h). */
static struct {
	void *client;
	/* By enum debuginfod_kind; return a file descriptor or -errno (elfutils/debuginfod.h). */
	int (*fetch[2])(void *client, const unsigned char *build_id, int size, char **path);
} library;

static const char *const missing_text =
#ifdef STATIC_PROGRAM
	"this is the static program, which loads no libraries; use --debug-dir, or the program "
	"that the distribution's package has";
#define LOAD(name) NULL
#else
	"libdebuginfod.so.1 cannot be loaded; install Debian's libdebuginfod1";
#define LOAD(name) dlopen(name, RTLD_NOW | RTLD_LOCAL)
#endif

static void open_library(void)
{
	void *handle = LOAD("libdebuginfod.so.1");
	void *(*begin)(void);

	if (!handle)
		return;
	*(void **)&begin = dlsym(handle, "debuginfod_begin");
	*(void **)&library.fetch[DEBUGINFOD_EXECUTABLE] =
		dlsym(handle, "debuginfod_find_executable");
	*(void **)&library.fetch[DEBUGINFOD_DEBUGINFO] = dlsym(handle, "debuginfod_find_debuginfo");
	if (begin && library.fetch[DEBUGINFOD_EXECUTABLE] && library.fetch[DEBUGINFOD_DEBUGINFO])
		library.client = begin();
}

const char *debuginfod_missing(void)
{
	if (!library.client)
		open_library();
	return library.client ? NULL : missing_text;
}

char *debuginfod_fetch(enum debuginfod_kind kind, const uint8_t *build_id, size_t size)
{
	char *path = NULL;
	int fd;

	if (debuginfod_missing() || !size)
		return NULL;
	fd = library.fetch[kind](library.client, build_id, (int)size, &path);
	if (fd < 0)
		return NULL;
	close(fd);
	return path;
}

/* A symbol table is smaller than its file: a larger result means damage. */
#define UNPACK_FACTOR 16

/* The directories that mirror the file system with debug files. */
enum { ROOTS = 2 };

struct debug_search {
	const struct debug_request *request;
	const uint8_t *id; /* build id of the wanted file */
	size_t id_size;
	char hex[2 * ELF_BUILD_ID_MAX + 1];
	const char *roots[ROOTS]; /* the best first; may be NULL */
	char system_root[BENEATH_PATH];
	debug_file_accept *accept; /* NULL: the build id or the checksum decides */
	void *context;
	bool has_crc;
	GElf_Word crc; /* checksum in .gnu_debuglink */
	struct elf_file *found;
	char path[BENEATH_PATH]; /* path of the last file that was tried */
};

static void begin_search(struct debug_search *search, const struct debug_request *request,
			 const uint8_t *id, size_t id_size, struct elf_file *found)
{
	const char *symfs = request->options->symfs;

	search->request = request;
	search->id = id;
	search->id_size = id_size;
	elf_file_print_id(search->hex, id, id_size);
	search->found = found;
	search->accept = NULL;
	search->has_crc = false;
	search->roots[0] = request->options->debug_dir;
	search->roots[1] =
		dso_find_path(NULL, search->system_root, "%s/usr/lib/debug", symfs ? symfs : "")
			? search->system_root
			: NULL;
}

/* A file without build ids is known by the checksum of all its bytes. */
static bool is_wanted(const struct debug_search *search)
{
	const struct elf_file *file = search->found;

	if (search->accept)
		return search->accept(search->context);
	if (search->id_size && file->build_id_size)
		return search->id_size == file->build_id_size &&
		       memcmp(search->id, file->build_id, search->id_size) == 0;
	return search->has_crc &&
	       (GElf_Word)crc32_z(crc32_z(0, NULL, 0), file->bytes, file->size) == search->crc;
}

/* debug_dir and the servers' files are the user's own, even outside of symfs. */
static bool __attribute__((format(printf, 2, 3)))
try_path(struct debug_search *search, const char *format, ...)
{
	const char *symfs = search->request->options->symfs;
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(search->path, sizeof(search->path), format, args);
	va_end(args);
	if (length <= 0 || (size_t)length >= sizeof(search->path) ||
	    (symfs && !path_in_root_resolve(symfs, search->path)) ||
	    elf_file_open(search->found, search->path, NULL) != 0)
		return false;
	if (is_wanted(search))
		return true;
	elf_file_close(search->found);
	return false;
}

static bool try_build_id(struct debug_search *search)
{
	const struct byte_view id = { search->id, search->id_size };
	const char *hex = search->hex;
	char path[BENEATH_PATH];

	if (search->id_size < 2)
		return false;
	for (int i = 0; i < ROOTS; i++)
		if (search->roots[i] &&
		    try_path(search, "%s/.build-id/%.2s/%s.debug", search->roots[i], hex, hex + 2))
			return true;
	for (int i = 0; i < DSO_FIND_CACHES; i++)
		if (dso_find_cached(search->request->options, &id, i, "/debug", path) &&
		    try_path(search, "%s", path))
			return true;
	return false;
}

static int directory_length(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash && slash - path < BENEATH_PATH ? (int)(slash - path) : 0;
}

/* GDB manual, "Separate Debug Files": beside the file, in .debug, and under each root. */
static bool try_link(struct debug_search *search)
{
	const struct debug_request *request = search->request;
	const char *name = dwelf_elf_gnu_debuglink(request->code->elf, &search->crc);
	int found = directory_length(request->found),
	    recorded = directory_length(request->recorded);

	if (!name || !name[0] || strchr(name, '/'))
		return false;
	search->has_crc = true;
	if (request->found && (try_path(search, "%.*s/%s", found, request->found, name) ||
			       try_path(search, "%.*s/.debug/%s", found, request->found, name)))
		return true;
	for (int i = 0; i < ROOTS && !dso_find_climbs(request->recorded); i++)
		if (search->roots[i] && try_path(search, "%s/%.*s/%s", search->roots[i], recorded,
						 request->recorded, name))
			return true;
	return false;
}

static bool try_servers(struct debug_search *search)
{
	char *path = search->request->options->debuginfod
			     ? debuginfod_fetch(DEBUGINFOD_DEBUGINFO, search->id, search->id_size)
			     : NULL;
	bool found = path && try_path(search, "%s", path);

	free(path);
	return found;
}

bool debug_file_open(const struct debug_request *request, struct elf_file *debug,
		     char path[BENEATH_PATH])
{
	const struct elf_file *code = request->code;
	struct debug_search search;

	begin_search(&search, request, code->build_id, code->build_id_size, debug);
	if (!try_build_id(&search) && !try_link(&search) && !try_servers(&search))
		return false;
	strcpy(path, search.path);
	return true;
}

bool debug_file_open_shared(const struct debug_request *request, const char *path, const char *name,
			    const uint8_t *id, size_t id_size, struct elf_file *shared)
{
	struct debug_search search;

	if (id_size > ELF_BUILD_ID_MAX)
		return false;
	begin_search(&search, request, id, id_size, shared);
	if (try_build_id(&search))
		return true;
	if (request->options->symfs)
		return false;
	/* Relative names contain "..": "../../.dwz/foo.debug".  The build id must match. */
	return name[0] == '/' ? try_path(&search, "%s", name)
			      : try_path(&search, "%.*s/%s", directory_length(path), path, name);
}

/* ---- Split DWARF --------------------------------------------------------- */

static bool accept_any(void *context)
{
	(void)context;
	return true;
}

/* Below each root: by build id, and where the program is. */
static bool try_package_roots(struct debug_search *search)
{
	const char *recorded = search->request->recorded, *hex = search->hex;
	bool by_path = recorded[0] == '/' && !dso_find_climbs(recorded);

	for (int i = 0; i < ROOTS; i++) {
		const char *root = search->roots[i];

		if (root && ((search->id_size > 1 &&
			      try_path(search, "%s/.build-id/%.2s/%s.dwp", root, hex, hex + 2)) ||
			     (by_path && try_path(search, "%s%s.dwp", root, recorded))))
			return true;
	}
	return false;
}

bool debug_file_open_package(const struct debug_request *request, const char *debug_path,
			     struct elf_file *package)
{
	struct debug_search search;

	begin_search(&search, request, request->code->build_id, request->code->build_id_size,
		     package);
	search.accept = accept_any;
	return (request->found && try_path(&search, "%s.dwp", request->found)) ||
	       (debug_path && try_path(&search, "%s.dwp", debug_path)) ||
	       try_package_roots(&search);
}

bool debug_file_open_split(const struct debug_request *request, const struct split_name *name,
			   struct elf_file *split, debug_file_accept *accept, void *context)
{
	const char *symfs = request->options->symfs ? request->options->symfs : "";
	const char *root = request->options->debug_dir, *program = request->found;
	const char *file = name->file, *slash = strrchr(file, '/');
	const char *directory = name->directory ? name->directory : "";
	int beside = directory_length(program);
	struct debug_search search;

	begin_search(&search, request, NULL, 0, split);
	search.accept = accept;
	search.context = context;
	if (file[0] == '/')
		return try_path(&search, "%s%s", symfs, file) ||
		       (program && try_path(&search, "%.*s%s", beside, program, slash)) ||
		       (root && try_path(&search, "%s%s", root, file));
	/* The compiler's path; relative to the program if paths were made relative. */
	if (directory[0] == '/'
		    ? try_path(&search, "%s%s/%s", symfs, directory, file)
		    : program && try_path(&search, "%.*s/%s/%s", beside, program, directory, file))
		return true;
	return (program && (try_path(&search, "%.*s/%s", beside, program, file) ||
			    (slash && try_path(&search, "%.*s%s", beside, program, slash)))) ||
	       (root && try_path(&search, "%s%s/%s", root, directory, file));
}

/* ---- .gnu_debugdata ------------------------------------------------------ */

int debug_file_open_mini(const struct elf_file *code, struct elf_file *mini, struct error *err)
{
	struct elf_part packed = elf_file_section(code, ".gnu_debugdata");
	uint8_t *bytes;
	size_t size;

	if (!packed.bytes)
		return 0;
	bytes = unpack_bytes((struct byte_view){ packed.bytes, packed.size },
			     code->size * UNPACK_FACTOR, &size);
	if (!bytes)
		return error_set(err, ERROR_FORMAT, ".gnu_debugdata cannot be unpacked");
	return elf_file_open_bytes(mini, bytes, size, err) == 0 ? 1 : -1;
}
