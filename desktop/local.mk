# SPDX-License-Identifier: MIT
# File managers show a trace by `ptrace2ftf open`, which needs libmicrohttpd; the type of traces is known without it.
mimedir = $(datadir)/mime/packages
dist_mime_DATA = desktop/ptrace2ftf.xml
applicationsdir = $(datadir)/applications
if HAVE_MHD
applications_DATA = desktop/ptrace2ftf.desktop
endif
EXTRA_DIST += desktop/ptrace2ftf.desktop
