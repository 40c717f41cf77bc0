/* SPDX-License-Identifier: MIT */
/* The steps from a recording to the page that shows it. */
#include "src/batch/batch.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io/output_path.h"
#include "src/formats/output_format.h"
#include "src/sandbox/sandbox.h"
#include "src/serve/viewer_page.h"

struct trace_opening {
	struct options options; /* a copy; its pointers are borrowed */
	batch_convert_fn *convert;
	int listener;             /* owned until the server has it */
	struct temp_file unnamed; /* the output, unless the options name one */
	int trace;                /* owned until the server has it: the shown file; -1 at first */
	char *name;               /* owned: of the trace */
	const char *page;         /* borrowed: the address of the viewer's */
	char origin[VIEWER_PAGE_ORIGIN_MOST];
	uint64_t begin, end;  /* ns: the view of the trace at first */
	const char *commands; /* borrowed: commands that open an address; NULL: no browser */
};

static bool is_page(const struct trace_opening *opening)
{
	return opening->options.format == &format_html;
}

/* ---- The conversion ------------------------------------------------------ */

/*
 * The unnamed file is the standard output of the conversion, which has no other use: the sandbox
 * needs no exception for it.  Returns an exit status; EXIT_FAILED with err filled if there was no
 * conversion.
 */
static int run_conversion(struct trace_opening *opening, struct error *err)
{
	const struct options *options = &opening->options;
	char *nameless[] = { (char *)"the overlays", NULL };
	const struct batch_run run = { .options = options, .convert = opening->convert };
	bool unnamed = opening->unnamed.open;
	const struct batch_job job = { .inputs = options->input ? options->inputs : nameless,
				       .input_count = options->input ? options->input_count : 1,
				       .output = (char *)(unnamed ? "-" : options->output),
				       .printed = unnamed ? &opening->unnamed : NULL,
				       .closed = opening->listener };
	json_t *report;
	int status;

	status = batch_one_run(&run, &job, &report, err);
	/* 0 if the report has no integer. */
	opening->begin = (uint64_t)json_integer_value(json_object_get(report, "view_begin"));
	opening->end = (uint64_t)json_integer_value(json_object_get(report, "view_end"));
	json_decref(report);
	return status;
}

/* Returns an exit status; EXIT_FAILED with err filled if there is no output to show. */
static int convert_input(struct trace_opening *opening, struct error *err)
{
	const struct options *options = &opening->options;
	int status;

	if (!options->output && temp_file_open(&opening->unnamed, err) < 0)
		return EXIT_FAILED;
	status = run_conversion(opening, err);
	if (status != EXIT_WHOLE && status != EXIT_WITH_GAPS)
		return status;
	opening->trace = opening->unnamed.open ? opening->unnamed.fd
					       : open(options->output, O_RDONLY | O_CLOEXEC);
	if (opening->trace >= 0)
		return status;
	error_set_system(err, errno, "%s: cannot open", options->output);
	return EXIT_FAILED;
}

/* ---- The trace to show --------------------------------------------------- */

/* Returns the name of the conversion's output, owned by the caller. */
static char *name_output(const struct options *options)
{
	const char *suffix = output_format_suffix(options->format);

	if (options->output)
		return alloc_text("%s", options->output);
	if (!options->input || strcmp(options->input, "-") == 0)
		return output_path_beside("trace", suffix);
	return output_path_beside(options->input, suffix);
}

/* Returns false, and prints why, if a trace cannot be shown as the options say. */
static bool may_show_as_is(const struct options *options)
{
	const char *word = options->word_count ? options->words[0] : NULL;

	if (options->output && options->output != options->beside)
		word = "--output";
	if (!word && options->input_count == 1)
		return true;
	fprintf(stderr, "ptrace2ftf: %s is a trace already, and shown as it is; leave out %s\n",
		options->input, word ? word : options->inputs[1]);
	return false;
}

/*
 * If the viewer's page cannot be reached, show our own page, unless the user has chosen something
 * else, or something that only an FTF shows.  A browser on another host may reach it.
 */
static void choose_page(struct trace_opening *opening)
{
	struct options *options = &opening->options;
	const char *reason = NULL;
	bool own = opening->trace < 0 && !options->ui && !options->output &&
		   options->format == &format_ftf && !options->counters &&
		   options->stacks != STACKS_FLOWS && !options->overlay_count;

	viewer_page_origin(opening->page, opening->origin);
	if (!is_page(opening) && !browser_over_ssh() && opening->commands)
		reason = page_reach(opening->origin);
	if (reason && !options->quiet) {
		message_print_warning(
			"cannot reach %s: %s; %s\n", opening->origin, reason,
			own ? "showing the page of --format=html instead"
			    : "the browser may have cached it; use --format=html for a page without "
			      "a network");
	}
	if (!reason || !own)
		return;
	options->format = &format_html;
	free(opening->name);
	opening->name = name_output(options);
}

static void find_trace(struct trace_opening *opening)
{
	struct options *options = &opening->options;
	bool page = false;

	if (options->input && options->input_kind == INPUT_PERF_DATA &&
	    !input_paths_is_bundle(options->input))
		opening->trace = trace_kind_open(options->input, &page);
	if (page)
		options->format = &format_html;
	opening->name =
		opening->trace >= 0 ? alloc_text("%s", options->input) : name_output(options);
}

/* ---- The page ------------------------------------------------------------ */

/* Returns 0; -1 with err filled: the address would stay unknown. */
static int print_address(const struct trace_opening *opening, const char *path, const char *address,
			 struct error *err)
{
	const char *commands = opening->commands;
	bool quiet = opening->options.quiet;

	if (!quiet) {
		char host[HOST_NAME_MAX + 1] = "HOST";
		struct stat status = { 0 };

		fstat(opening->trace, &status);
		fprintf(stderr,
			"ptrace2ftf: serving %s (%.1f MiB) to the %s, once and from this host only; "
			"Ctrl-C ends it\n",
			base_name(path), (double)status.st_size / (1 << 20),
			is_page(opening) ? "browser" : "page");
		if (!is_page(opening))
			fputs("ptrace2ftf: the browser asks whether the page may access the "
			      "local network or this device; allow it\n",
			      stderr);
		if (browser_over_ssh() && !opening->commands) {
			gethostname(host, sizeof(host) - 1);
			fprintf(stderr,
				"ptrace2ftf: first, on the host of the browser: ssh -N -L "
				"%d:127.0.0.1:%d %s\n",
				VIEWER_PAGE_PORT, VIEWER_PAGE_PORT, host);
		}
		if (!opening->commands)
			fputs("ptrace2ftf: open this address in a browser:\n", stderr);
	}
	puts(address);
	if ((fflush(stdout) != 0 || ferror(stdout)) && !commands)
		return error_set_system(err, errno, "cannot print the address");
	if (commands && !browser_start(commands, address, quiet) && !quiet)
		fputs("ptrace2ftf: no browser could be started; open the address in one\n", stderr);
	return 0;
}

static int serve_trace(struct trace_opening *opening, struct trace_server *server,
		       struct error *err)
{
	const struct options *options = &opening->options;
	struct sandbox sandbox;

	if (sandbox_enter(&sandbox, SANDBOX_SERVER, options, err) < 0)
		return -1;
	if (!options->quiet)
		sandbox_warn(&sandbox, stderr);
	if (options->verbose)
		sandbox_print(&sandbox, stderr);
	if (trace_server_run(server, err) < 0)
		return -1;
	if (!options->quiet)
		fprintf(stderr, "ptrace2ftf: the %s has fetched the %s\n",
			is_page(opening) ? "browser" : "page", is_page(opening) ? "page" : "trace");
	return 0;
}

/* Returns 0; -1 with err filled. */
static int show_trace(struct trace_opening *opening, struct error *err)
{
	char *path = viewer_page_path(opening->name), *address;
	struct trace_server *server;
	int status;

	if (!path)
		return error_set(err, ERROR_SYSTEM, "cannot make a random address");
	if (!is_page(opening))
		address = viewer_page_address(opening->page, path, opening->begin, opening->end,
					      &opening->options.select.tids);
	else
		address = alloc_text(VIEWER_PAGE_OWN "%s", path);
	server = trace_server_open(opening->listener, opening->trace, path,
				   is_page(opening) ? NULL : opening->origin, err);
	status = server ? print_address(opening, path, address, err) : -1;
	if (status == 0)
		status = serve_trace(opening, server, err);
	trace_server_close(server);
	free(address);
	free(path);
	return status;
}

int open_trace(const struct options *options, batch_convert_fn *convert)
{
	struct trace_opening opening = { .options = *options,
					 .convert = convert,
					 .listener = -1,
					 .trace = -1,
					 .page = options->ui ? options->ui : VIEWER_PAGE_DEFAULT,
					 .commands = browser_commands() };
	struct error err = { 0 };
	int status = EXIT_FAILED;

	find_trace(&opening);
	if (opening.trace >= 0 && !may_show_as_is(options)) {
		status = EXIT_USAGE;
	} else {
		opening.listener = trace_server_listen(&err);
		if (opening.listener >= 0) {
			choose_page(&opening);
			status = opening.trace >= 0 ? EXIT_WHOLE : convert_input(&opening, &err);
		}
	}
	if (opening.trace >= 0 && status != EXIT_USAGE && err.kind == ERROR_NONE &&
	    show_trace(&opening, &err) < 0)
		status = EXIT_FAILED;
	message_error(&err);
	free(opening.name);
	return status;
}
