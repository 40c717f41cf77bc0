dnl SPDX-License-Identifier: MIT

dnl P2F_WARNINGS: the project's warnings in WARN_CFLAGS; --enable-werror makes
dnl them errors.
AC_DEFUN([P2F_WARNINGS], [
AC_ARG_ENABLE([werror], [AS_HELP_STRING([--enable-werror], [treat compiler warnings as errors])])
WARN_CFLAGS="-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings -Wvla -Wundef"
AS_IF([test "x$enable_werror" = xyes], [WARN_CFLAGS="$WARN_CFLAGS -Werror"])
AC_SUBST([WARN_CFLAGS])
])

dnl P2F_STATIC: --enable-static-program makes ptrace2ftf one file without shared libraries.
dnl After P2F_HARDENING; before libraries are looked for.
AC_DEFUN([P2F_STATIC], [
AC_ARG_ENABLE([static-program], [AS_HELP_STRING([--enable-static-program], [ptrace2ftf without shared libraries (make static)])])
AS_IF([test "x$enable_static_program" = xyes], [
	PKG_CONFIG="$PKG_CONFIG --static"
	dnl -XCClinker: libtool would drop it.
	HARDEN_PIE="-XCClinker -static-pie"
	AC_DEFINE([STATIC_PROGRAM], [1], [ptrace2ftf loads no shared libraries])
])
])

dnl P2F_THUNKS: in THUNK_CFLAGS what makes the indirect calls and the returns of the tests' guest
dnl kernel go through thunks of its own, as in Linux: gcc's words, or clang's.
AC_DEFUN([P2F_THUNKS], [
P2F_TRY_FLAG([THUNK_CFLAGS], [-fcf-protection=none -mindirect-branch=thunk -mindirect-branch-register -mfunction-return=thunk])
AS_IF([test -n "$THUNK_CFLAGS"], [THUNK_CFLAGS=`AS_ECHO(["$THUNK_CFLAGS"]) | sed 's/=thunk/&-extern/g'`],
	[P2F_TRY_FLAG([THUNK_CFLAGS], [-mretpoline -mretpoline-external-thunk -mfunction-return=keep])
	AS_IF([test -n "$THUNK_CFLAGS"],
		[THUNK_CFLAGS="-mretpoline -mretpoline-external-thunk -mfunction-return=thunk-extern"])])
AC_SUBST([THUNK_CFLAGS])
AM_CONDITIONAL([HAVE_THUNKS], [test -n "$THUNK_CFLAGS"])
])

dnl P2F_SANITIZE: --enable-sanitize=address,undefined (or thread) builds
dnl everything with those sanitizers; the first report ends the program.
AC_DEFUN([P2F_SANITIZE], [
AC_ARG_ENABLE([sanitize], [AS_HELP_STRING([--enable-sanitize=LIST], [build with sanitizers, e.g. address,undefined])])
AS_CASE(["$enable_sanitize"],
	[''|no], [],
	[yes], [SANITIZE_CFLAGS="-fsanitize=address,undefined"],
	[SANITIZE_CFLAGS="-fsanitize=$enable_sanitize"])
AS_IF([test -n "$SANITIZE_CFLAGS"],
	[SANITIZE_CFLAGS="$SANITIZE_CFLAGS -fno-sanitize-recover=all -fno-omit-frame-pointer -g"])
AC_SUBST([SANITIZE_CFLAGS])
])
