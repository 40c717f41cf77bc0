dnl SPDX-License-Identifier: MIT

dnl P2F_TRY_FLAG(VARIABLE, FLAG...): add to VARIABLE what the compiler and linker take.
AC_DEFUN([P2F_TRY_FLAG], [
AC_MSG_CHECKING([whether $CC takes $2])
p2f_cflags=$CFLAGS
CFLAGS="$CFLAGS -Werror $2"
AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <string.h>]], [[char text[8]; strcpy(text, ""); return text[0];]])],
	[AC_MSG_RESULT([yes]); $1="$$1 $2"], [AC_MSG_RESULT([no])])
CFLAGS=$p2f_cflags
])

dnl P2F_HARDENING: what makes a fault in reading an untrusted file harder to
dnl use, in HARDEN_CFLAGS and HARDEN_LDFLAGS; HARDEN_PIE is for programs only.
dnl After P2F_SANITIZE: sanitizers see more, and do not work with all of it.
AC_DEFUN([P2F_HARDENING], [
AC_ARG_ENABLE([hardening], [AS_HELP_STRING([--disable-hardening], [build without stack protector, _FORTIFY_SOURCE, RELRO, PIE, CET])])
AS_IF([test "x$enable_hardening" != xno && test -z "$SANITIZE_CFLAGS"], [
	P2F_TRY_FLAG([HARDEN_CFLAGS], [-fstack-protector-strong])
	P2F_TRY_FLAG([HARDEN_CFLAGS], [-fstack-clash-protection])
	P2F_TRY_FLAG([HARDEN_CFLAGS], [-fcf-protection=full])
	dnl Needs optimization; glibc warns without.  A distribution's own choice stays.
	P2F_TRY_FLAG([HARDEN_CFLAGS], [-D_FORTIFY_SOURCE=3])
	AS_CASE(["$HARDEN_CFLAGS"], [*_FORTIFY*], [],
		[P2F_TRY_FLAG([HARDEN_CFLAGS], [-D_FORTIFY_SOURCE=2])])
	P2F_TRY_FLAG([HARDEN_LDFLAGS], [-Wl,-z,relro,-z,now])
	P2F_TRY_FLAG([HARDEN_LDFLAGS], [-Wl,-z,noexecstack])
	P2F_TRY_FLAG([HARDEN_PIE], [-fPIE -pie])
])
AS_IF([test -n "$HARDEN_PIE"], [HARDEN_CFLAGS="$HARDEN_CFLAGS -fPIE"; HARDEN_PIE=-pie])
AC_SUBST([HARDEN_CFLAGS])
AC_SUBST([HARDEN_LDFLAGS])
AC_SUBST([HARDEN_PIE])
AM_CONDITIONAL([SANITIZED], [test -n "$SANITIZE_CFLAGS"])
AM_CONDITIONAL([HARDENED], [test -n "$HARDEN_CFLAGS"])
])
