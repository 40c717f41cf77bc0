/* SPDX-License-Identifier: MIT */
/* --format=sqlite of a build without libsqlite3: refused. */
#include "src/formats/output_format.h"

static struct format_output *refuse_sqlite(const struct format_request *request, struct error *err)
{
	(void)request;
	error_set(err, ERROR_UNSUPPORTED,
		  "cannot write --format=sqlite: this build is without libsqlite3; build it again "
		  "with libsqlite3-dev");
	return NULL;
}

const struct output_format format_sqlite = {
	.name = "sqlite",
	.suffix = "db",
	.default_output = DEFAULT_FILE,
	.slices = SLICES_SORTED,
	.open = refuse_sqlite,
};
