# SPDX-License-Identifier: MIT
# Recordings of a whole machine, user code and kernel, with ground truth.
if HAVE_ZYDIS
check_PROGRAMS += tests/ptsys/ptsys
endif
tests_ptsys_ptsys_SOURCES = \
	tests/ptsim/code.c tests/ptsim/code.h \
	tests/ptsim/mappings.c tests/ptsim/mappings.h \
	tests/ptsim/pt_output.c tests/ptsim/pt_output.h \
	tests/ptsim/side_band.c tests/ptsim/side_band.h \
	tests/ptsim/true_stack.c tests/ptsim/true_stack.h \
	tests/ptsim/truth.c tests/ptsim/truth.h \
	tests/ptsys/guest.c tests/ptsys/guest.h \
	tests/ptsys/guest_files.c tests/ptsys/guest_files.h \
	tests/ptsys/guest_stack.c tests/ptsys/guest_stack.h \
	tests/ptsys/ptsys.c \
	tests/ptsys/qemu_log.c tests/ptsys/qemu_log.h
tests_ptsys_ptsys_LDADD = libsupport.a $(PTRACE2FTF_LIBS) $(ZYDIS_LIBS)

# The guest: without libc and sanitizers, even if the project is built with them.
GUEST = tests/ptsys/guest
GUEST_CFLAGS = -std=gnu11 -O2 -Wall -Wextra -ffreestanding -fno-pic -fno-pie -static -nostdlib \
	-mno-red-zone -mgeneral-regs-only -fcf-protection=none -fno-stack-protector \
	-fno-asynchronous-unwind-tables -Wl,--build-id
GUEST_KERNEL_CFLAGS = -mcmodel=kernel $(THUNK_CFLAGS)
if HAVE_THUNKS
check_DATA += $(GUEST)/vmlinux
endif
CLEANFILES += $(GUEST)/vmlinux $(GUEST)/user $(GUEST)/user.bin
EXTRA_DIST += $(GUEST)/abi.h $(GUEST)/boot.S $(GUEST)/kernel.c $(GUEST)/kernel.ld $(GUEST)/user.c \
	$(GUEST)/user.ld

$(GUEST)/user: $(GUEST)/user.c $(GUEST)/user.ld $(GUEST)/abi.h
	@$(MKDIR_P) $(GUEST)
	$(AM_V_CCLD)$(CC) $(GUEST_CFLAGS) -Wl,-T,$(srcdir)/$(GUEST)/user.ld -o $@ $(srcdir)/$(GUEST)/user.c

$(GUEST)/user.bin: $(GUEST)/user
	$(AM_V_GEN)objcopy -O binary $(GUEST)/user $@

$(GUEST)/vmlinux: $(GUEST)/boot.S $(GUEST)/kernel.c $(GUEST)/kernel.ld $(GUEST)/abi.h $(GUEST)/user.bin
	$(AM_V_CCLD)$(CC) $(GUEST_CFLAGS) $(GUEST_KERNEL_CFLAGS) -DUSER_IMAGE='"$(GUEST)/user.bin"' \
		-Wl,-T,$(srcdir)/$(GUEST)/kernel.ld -o $@ $(srcdir)/$(GUEST)/boot.S $(srcdir)/$(GUEST)/kernel.c

TESTS += tests/ptsys/kernel.sh
dist_noinst_SCRIPTS += tests/ptsys/kernel.sh
EXTRA_DIST += tests/ptsys/guest_log.sh
