dnl SPDX-License-Identifier: MIT

dnl P2F_WARNINGS: the project's warnings in WARN_CFLAGS; --enable-werror makes
dnl them errors.
AC_DEFUN([P2F_WARNINGS], [
AC_ARG_ENABLE([werror], [AS_HELP_STRING([--enable-werror], [treat compiler warnings as errors])])
WARN_CFLAGS="-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings -Wvla -Wundef"
AS_IF([test "x$enable_werror" = xyes], [WARN_CFLAGS="$WARN_CFLAGS -Werror"])
AC_SUBST([WARN_CFLAGS])
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
