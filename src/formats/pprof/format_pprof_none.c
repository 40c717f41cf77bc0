/* SPDX-License-Identifier: MIT */
/* --format=pprof of a build without protobuf-c: refused. */
#include "src/formats/output_format.h"

static struct format_output *refuse_pprof(const struct format_request *request, struct error *err)
{
	(void)request;
	error_set(err, ERROR_UNSUPPORTED,
		  "cannot write --format=pprof: this build is without protobuf-c; build it again "
		  "with libprotobuf-c-dev and protobuf-c-compiler");
	return NULL;
}

const struct output_format format_pprof = {
	.name = "pprof",
	.suffix = "pb.gz",
	.default_output = DEFAULT_FILE,
	.slices = SLICES_SORTED,
	.open = refuse_pprof,
};
