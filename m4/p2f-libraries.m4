dnl SPDX-License-Identifier: MIT
dnl Libraries by pkg-config or by symbol.  All that is missing is gathered, so
dnl that one run of configure names every Debian package to install.

p2f_missing=

dnl P2F_PKG(VARIABLE-PREFIX, PKG-CONFIG-MODULE, DEBIAN-PACKAGE)
AC_DEFUN([P2F_PKG], [
PKG_CHECK_MODULES([$1], [$2], [], [p2f_missing="$p2f_missing $3"])
])

dnl P2F_LIB(VARIABLE-PREFIX, LIBRARY, FUNCTION, HEADER, DEBIAN-PACKAGE)
dnl For libraries without a .pc file.
AC_DEFUN([P2F_LIB], [
p2f_found=yes
AC_CHECK_HEADER([$4], [], [p2f_found=no])
AC_CHECK_LIB([$2], [$3], [$1_LIBS=-l$2], [p2f_found=no])
AS_IF([test $p2f_found = no], [p2f_missing="$p2f_missing $5"])
AC_SUBST([$1_LIBS])
])

dnl P2F_HEADER(HEADER, DEBIAN-PACKAGE)
AC_DEFUN([P2F_HEADER], [
AC_CHECK_HEADER([$1], [], [p2f_missing="$p2f_missing $2"])
])

dnl P2F_MICROHTTPD: its header; the program loads the library itself when it shows a trace.
dnl Required, so that no build lacks a command by mistake; a machine that only converts
dnl does without.
AC_DEFUN([P2F_MICROHTTPD], [
AC_ARG_WITH([libmicrohttpd],
	[AS_HELP_STRING([--without-libmicrohttpd], [build without `ptrace2ftf open`])])
AS_IF([test "x$with_libmicrohttpd" != xno],
	[P2F_PKG([MHD], [libmicrohttpd >= 0.9.72], [libmicrohttpd-dev])
	AC_DEFINE([HAVE_MHD], [1], [`ptrace2ftf open` is built])])
AM_CONDITIONAL([HAVE_MHD], [test "x$with_libmicrohttpd" != xno])
])

dnl P2F_PROTOBUF_C: the library and the compiler of the messages that --format=pprof writes.
dnl Without them the format reports that it is not there, and all else works.
AC_DEFUN([P2F_PROTOBUF_C], [
AC_ARG_WITH([protobuf-c],
	[AS_HELP_STRING([--without-protobuf-c], [build without --format=pprof])])
p2f_found=no
AS_IF([test "x$with_protobuf_c" != xno], [
	PKG_CHECK_MODULES([PROTOBUF_C], [libprotobuf-c >= 1.3], [p2f_found=yes], [p2f_found=no])
	AC_CHECK_PROGS([PROTOC_C], [protoc-c])
	AS_IF([test -z "$PROTOC_C"], [p2f_found=no])
	AS_IF([test $p2f_found = no], [
		AS_IF([test "x$with_protobuf_c" = xyes],
			[p2f_missing="$p2f_missing libprotobuf-c-dev protobuf-c-compiler"],
			[AC_MSG_WARN([building without --format=pprof. For it, on Debian 12:
    apt-get install libprotobuf-c-dev protobuf-c-compiler])])
	])
])
AM_CONDITIONAL([HAVE_PROTOBUF_C], [test $p2f_found = yes])
AS_IF([test $p2f_found = yes],
	[AC_DEFINE([HAVE_PROTOBUF_C], [1], [Define if --format=pprof is built.])],
	[PROTOBUF_C_CFLAGS= PROTOBUF_C_LIBS=])
])

dnl P2F_SQLITE: the header of the library that --format=sqlite is made with, and loads itself.
AC_DEFUN([P2F_SQLITE], [
AC_ARG_WITH([sqlite3], [AS_HELP_STRING([--without-sqlite3], [build without --format=sqlite])])
p2f_found=no
AS_IF([test "x$with_sqlite3" != xno], [
	PKG_CHECK_MODULES([SQLITE], [sqlite3 >= 3.36], [p2f_found=yes], [
		AS_IF([test "x$with_sqlite3" = xyes], [p2f_missing="$p2f_missing libsqlite3-dev"],
			[AC_MSG_WARN([building without --format=sqlite. For it, on Debian 12:
    apt-get install libsqlite3-dev])])])
])
AM_CONDITIONAL([HAVE_SQLITE], [test $p2f_found = yes])
AS_IF([test $p2f_found = yes], [AC_DEFINE([HAVE_SQLITE], [1], [Define if --format=sqlite is built.])],
	[SQLITE_CFLAGS=])
])

dnl P2F_CAPSTONE: the header of the disassembler of --format=insns, which loads it itself.
AC_DEFUN([P2F_CAPSTONE], [
AC_ARG_WITH([capstone], [AS_HELP_STRING([--without-capstone], [build without --format=insns])])
p2f_found=no
AS_IF([test "x$with_capstone" != xno], [
	PKG_CHECK_MODULES([CAPSTONE], [capstone >= 4], [p2f_found=yes], [
		AS_IF([test "x$with_capstone" = xyes], [p2f_missing="$p2f_missing libcapstone-dev"],
			[AC_MSG_WARN([building without --format=insns. For it, on Debian 12:
    apt-get install libcapstone-dev])])])
])
AS_IF([test $p2f_found = yes], [AC_DEFINE([HAVE_CAPSTONE], [1], [Define if --format=insns is built.])],
	[CAPSTONE_CFLAGS=])
])

dnl P2F_REPORT_MISSING: stop if anything is missing, and say how to get it.
AC_DEFUN([P2F_REPORT_MISSING], [
AS_IF([test -n "$p2f_missing"], [AC_MSG_ERROR([missing libraries. On Debian 12:
    apt-get install$p2f_missing])])
])

dnl P2F_TEST_LIB(VARIABLE-PREFIX, LIBRARY, FUNCTION, HEADER)
dnl For libraries that only tests use: tests that need one that is missing are skipped.
AC_DEFUN([P2F_TEST_LIB], [
p2f_found=yes
AC_CHECK_HEADER([$4], [], [p2f_found=no])
AC_CHECK_LIB([$2], [$3], [$1_LIBS=-l$2], [p2f_found=no])
AC_SUBST([$1_LIBS])
AM_CONDITIONAL([HAVE_$1], [test $p2f_found = yes])
])

dnl P2F_PTSIM: ptsim runs programs for x86-64.  After P2F_TEST_LIB of Zydis.
AC_DEFUN([P2F_PTSIM], [
AC_ARG_ENABLE([ptsim], [AS_HELP_STRING([--disable-ptsim], [do not install ptsim, which tests use])])
p2f_ptsim=$p2f_found
AS_CASE([$host_cpu], [x86_64], [], [p2f_ptsim=no])
AS_IF([test "x$enable_ptsim$p2f_ptsim" = xyesno],
	[AC_MSG_ERROR([ptsim needs an x86-64 processor and Zydis 4. On Debian 12:
    apt-get install libzydis-dev])])
AM_CONDITIONAL([INSTALL_PTSIM],
	[test "$p2f_ptsim" = yes && test "x$enable_ptsim" != xno && test "x$enable_static_program" != xyes])
])
