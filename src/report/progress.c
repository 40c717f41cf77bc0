/* SPDX-License-Identifier: MIT */
/* Draw the progress bar. */
#include "src/report/progress.h"

#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define FIRST_NS      NS_PER_S
#define REDRAW_NS     (NS_PER_S / 10)
#define COLUMNS_MAX   200
#define COLUMNS_OTHER 80 /* if the terminal's size is unknown */
#define BAR_MAX       40
#define BAR_MIN       5

/* Move to the start of the line and erase it (ECMA-48, EL). */
#define ERASE "\r\033[K"

uint64_t progress_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec;
}

void progress_init(struct progress *progress, bool quiet)
{
	const char *terminal = getenv("TERM");

	*progress = (struct progress){
		.enabled = !quiet && isatty(STDERR_FILENO) &&
			   (!terminal || strcmp(terminal, "dumb") != 0),
		.begin_ns = progress_now(),
	};
}

/* "12 s", "3:07 min", "2:05 h" */
static void print_time(char *text, size_t room, double seconds)
{
	uint64_t whole = seconds < 1e9 ? (uint64_t)seconds : UINT64_C(1000000000);

	if (whole < 60)
		snprintf(text, room, "%" PRIu64 " s", whole);
	else if (whole < 3600)
		snprintf(text, room, "%" PRIu64 ":%02" PRIu64 " min", whole / 60, whole % 60);
	else
		snprintf(text, room, "%" PRIu64 ":%02" PRIu64 " h", whole / 3600, whole / 60 % 60);
}

static void draw_progress(double part, uint64_t slices, double rate, double left)
{
	char numbers[COLUMNS_MAX], bar[BAR_MAX + 1], time[40];
	size_t width = COLUMNS_OTHER - 1, used, room, full;
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
		width = MIN(size.ws_col, COLUMNS_MAX) - 1;
	print_time(time, sizeof(time), left);
	used = (size_t)snprintf(numbers, sizeof(numbers),
				"%3.0f%%, %" PRIu64 " slices, %.1f MiB/s, %s left", 100 * part,
				slices, rate / (1 << 20), time);
	room = width > used + 3 + BAR_MIN ? width - used - 3 : 0;
	room = MIN(room, BAR_MAX);
	full = (size_t)(part * (double)room);
	memset(bar, ' ', room);
	memset(bar, '#', full);
	bar[room] = 0;
	if (room)
		fprintf(stderr, ERASE "[%s] %s", bar, numbers);
	else
		fprintf(stderr, ERASE "%.*s", (int)width, numbers);
	fflush(stderr);
}

void progress_show(struct progress *progress, uint64_t done, uint64_t total, uint64_t slices)
{
	uint64_t time = progress_now(), elapsed = time - progress->begin_ns;
	double rate = (double)done / ((double)elapsed / NS_PER_S);

	if (elapsed < FIRST_NS || time - progress->drawn_ns < REDRAW_NS || !done || done > total)
		return;
	progress->drawn = true;
	progress->drawn_ns = time;
	draw_progress((double)done / (double)total, slices, rate, (double)(total - done) / rate);
}

void progress_end(struct progress *progress)
{
	if (progress->drawn)
		fputs(ERASE, stderr), fflush(stderr);
	progress->drawn = progress->enabled = false;
}
