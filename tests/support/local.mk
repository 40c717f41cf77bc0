# SPDX-License-Identifier: MIT
# What tests share; each unit program links it.
check_LIBRARIES += libsupport.a
libsupport_a_SOURCES = \
	tests/support/memtrace_ctf.c tests/support/memtrace_ctf.h \
	tests/support/perf_data.c tests/support/perf_data.h \
	tests/support/perf_forms.c tests/support/perf_forms.h \
	tests/support/pt_packets.c tests/support/pt_packets.h \
	tests/support/runtime_events_ring.c tests/support/runtime_events_ring.h \
	tests/support/precise_depth.h tests/support/stack_branch.h \
	tests/support/sample.c tests/support/sample.h \
	tests/support/tiny_elf.c tests/support/tiny_elf.h \
	tests/support/tracing_data.c tests/support/tracing_data.h \
	tests/support/unit.c tests/support/unit.h
libsupport_a_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
EXTRA_DIST += tests/README.md tests/support/breakpoints.sh tests/support/costs.sh tests/support/tap.sh tests/support/raw_parts.py tests/support/rendered.sh tests/support/root_tree.sh tests/support/stack_rules.sh
dist_noinst_SCRIPTS += tests/support/limited.sh tests/support/pack_dwo.sh
UNIT_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
UNIT_LIBS = libsupport.a libftfread.a $(PTRACE2FTF_LIBS) $(CHECK_LIBS)

# A recording made from nothing, for tests.
check_PROGRAMS += tests/support/make-sample
tests_support_make_sample_SOURCES = tests/support/make_sample.c
tests_support_make_sample_LDADD = libsupport.a libbase.a $(IPT_LIBS) $(ZSTD_LIBS)

# A trace with every kind of record.
check_PROGRAMS += tests/support/make-trace
tests_support_make_trace_SOURCES = tests/support/make_trace.c
tests_support_make_trace_LDADD = libftf.la

demo: ptrace2ftf$(EXEEXT) tests/ptsim/ptsim$(EXEEXT) tests/programs/static/causes$(EXEEXT)
	tests/ptsim/ptsim$(EXEEXT) record --cpus=2 --cyc --wakings -o demo.data -- \
		tests/programs/static/causes$(EXEEXT) lock 7
	./ptrace2ftf$(EXEEXT) demo.data -o demo.ftf
	./ptrace2ftf$(EXEEXT) why -q --symbol=request demo.data
	@echo "Open $(abs_builddir)/demo.ftf at https://ui.perfetto.dev"

clean-local:
	rm -rf demo.data demo.ftf
.PHONY: demo

# A runtime-events file from lines of text.
check_PROGRAMS += tests/support/make-ring
tests_support_make_ring_SOURCES = tests/support/make_ring.c
tests_support_make_ring_LDADD = libsupport.a

# A network of its own for a test of the server.
check_PROGRAMS += tests/support/private-network
tests_support_private_network_SOURCES = tests/support/private_network.c
tests_support_private_network_LDADD =

# The program of `configure --without-libmicrohttpd`.
check_PROGRAMS += tests/support/ptrace2ftf-without-server
tests_support_ptrace2ftf_without_server_SOURCES = src/main.c src/serve/open_trace_none.c
tests_support_ptrace2ftf_without_server_LDADD = $(PTRACE2FTF_LIBS)

# The program with segments as small as a test says.
check_PROGRAMS += tests/support/ptrace2ftf-segments
tests_support_ptrace2ftf_segments_SOURCES = src/main.c src/serve/open_trace_none.c tests/support/decode_segments.c
tests_support_ptrace2ftf_segments_LDADD = $(PTRACE2FTF_LIBS)
