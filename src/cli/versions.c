/* SPDX-License-Identifier: MIT */
/* The output of --version. */
#include "src/cli/versions.h"

#include <elfutils/libdwfl.h>
#include <intel-pt.h>
#include <jansson.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include "config.h"

void versions_print(FILE *out)
{
	struct pt_version ipt = pt_library_version();

	fprintf(out, "%s\n", PACKAGE_STRING);
	fprintf(out, "libipt %u.%u.%u\n", ipt.major, ipt.minor, (unsigned)ipt.build);
	fprintf(out, "elfutils %s\n", dwfl_version(NULL));
	fprintf(out, "jansson %s\n", jansson_version_str());
	fprintf(out, "zlib %s\n", zlibVersion());
	fprintf(out, "zstd %s\n", ZSTD_versionString());
	fprintf(out, "liblzma %s\n", lzma_version_string());
#ifdef STATIC_PROGRAM
	fputs("static: without --debuginfod\n", out);
#endif
#ifndef HAVE_SQLITE
	fputs("without libsqlite3: no --format=sqlite\n", out);
#endif
#ifndef HAVE_MHD
	fputs("without libmicrohttpd: no `ptrace2ftf open`\n", out);
#endif
}
