# SPDX-License-Identifier: MIT
dist_man_MANS += man/ptrace2ftf.1 man/ptrace2ftf-annotate.1 man/ptrace2ftf-diff.1 man/ptrace2ftf-list.1 \
	man/ptrace2ftf-open.1 man/ptrace2ftf-pack.1 man/ptrace2ftf-record.1 man/ptrace2ftf-watch.1 man/ptrace2ftf-why.1 man/ptrace2ftf.7 man/ftfdump.1 man/libftf.3 man/libptflow.3
if INSTALL_PTSIM
dist_man_MANS += man/ptsim.1
endif
EXTRA_DIST += man/ptsim.1

# The manual as pages for a browser, in man/html. mandoc links to a page that is there, or to the kernel's project.
html-local: $(dist_man_MANS)
	@command -v mandoc >/dev/null || { echo "cannot make man/html: mandoc is not installed" >&2; exit 1; }
	$(AM_V_GEN)$(MKDIR_P) man/html && cd man/html && \
		for page in $(dist_man_MANS); do : >$${page##*/}.html; done && for page in $(dist_man_MANS); do \
		mandoc -T html -O 'toc,man=%N.%S.html;https://man7.org/linux/man-pages/man%S/%N.%S.html' \
			$(abs_srcdir)/$$page >$${page##*/}.html || exit 1; done

clean-local: clean-html
.PHONY: clean-html
clean-html:
	-rm -rf man/html
