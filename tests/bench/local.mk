# SPDX-License-Identifier: MIT
TESTS += tests/bench/failures.sh
dist_noinst_SCRIPTS += tests/bench/bench.sh tests/bench/costs.sh tests/bench/failures.sh tests/bench/instructions.sh tests/bench/profile.sh \
	tests/bench/time_errors.sh tests/bench/times.sh
EXTRA_DIST += tests/bench/README.md tests/bench/measure.sh tests/bench/perf_parts.py tests/bench/simulate.py

EXTRA_PROGRAMS += tests/bench/ftf-speed tests/bench/packet-speed tests/bench/thread-times \
	tests/bench/ptrace2ftf-jobs tests/bench/four-threads
CLEANFILES += tests/bench/ftf-speed tests/bench/packet-speed tests/bench/thread-times \
	tests/bench/ptrace2ftf-jobs tests/bench/four-threads
tests_bench_four_threads_SOURCES = tests/bench/four_threads.c
tests_bench_four_threads_CFLAGS = $(PROGRAM_CFLAGS)
tests_bench_four_threads_LDFLAGS = -all-static -pthread
tests_bench_four_threads_LDADD =
tests_bench_cpu_time_SOURCES = tests/bench/cpu_time.c tests/bench/child.c tests/bench/child.h
tests_bench_cpu_time_LDADD =
# The program with a log of its jobs.
tests_bench_ptrace2ftf_jobs_SOURCES = src/main.c src/serve/open_trace_none.c tests/bench/job_log.c \
	tests/support/decode_segments.c
tests_bench_ptrace2ftf_jobs_LDADD = $(PTRACE2FTF_LIBS)
tests_bench_ptrace2ftf_jobs_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=workers_submit,--wrap=workers_offer,--wrap=workers_ready,--wrap=workers_idle,--wrap=workers_run
tests_bench_thread_times_SOURCES = tests/bench/thread_times.c tests/bench/child.c \
	tests/bench/child.h
tests_bench_thread_times_LDADD =
tests_bench_ftf_speed_SOURCES = tests/bench/ftf_speed.c
tests_bench_ftf_speed_LDADD = libftf.la
tests_bench_packet_speed_SOURCES = tests/bench/packet_speed.c
tests_bench_packet_speed_LDADD = $(PTRACE2FTF_LIBS)

# A page for tests/bench/README.md.
bench: ptrace2ftf$(EXEEXT) tests/bench/ftf-speed$(EXEEXT) tests/bench/thread-times$(EXEEXT) \
		tests/bench/cpu-time$(EXEEXT) tests/bench/ptrace2ftf-jobs$(EXEEXT) tests/bench/four-threads$(EXEEXT) \
		tests/ptsim/ptsim$(EXEEXT) tests/programs/static/recursion$(EXEEXT) tests/programs/static/tail$(EXEEXT) tests/programs/static/indirect$(EXEEXT) \
		tests/scale/make-scale$(EXEEXT) tests/support/make-sample$(EXEEXT)
	@$(srcdir)/tests/bench/bench.sh $(abs_top_srcdir)
.PHONY: bench

profile: ptrace2ftf$(EXEEXT) tests/bench/packet-speed$(EXEEXT) tests/bench/cpu-time$(EXEEXT)
	$(srcdir)/tests/bench/profile.sh $(abs_top_srcdir)
.PHONY: profile

# The table of doc/timing.md.
time-errors: ptrace2ftf$(EXEEXT) $(check_PROGRAMS) $(check_DATA)
	top_srcdir=$(srcdir) top_builddir=. $(srcdir)/tests/bench/time_errors.sh
.PHONY: time-errors
