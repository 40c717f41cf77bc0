/* SPDX-License-Identifier: MIT */
/* Replaces open_trace.c and the server in a build without libmicrohttpd. */

#include "src/batch/batch.h"

int open_trace(const struct options *options, batch_convert_fn *convert)
{
	(void)options;
	(void)convert;
	message_print_error(
		"cannot show a trace: this build has no server (configure --without-libmicrohttpd); "
		"convert with -o FILE and open FILE in Perfetto, or -o FILE.html and open it in a "
		"browser, or build with Debian's libmicrohttpd-dev\n");
	return EXIT_FAILED;
}
