# SPDX-License-Identifier: MIT
# Sourced by shell tests: QEMU's log of the guest, for ptsys.  Needs $guest, its folder.

# Each instruction is logged (one-insn-per-tb; -singlestep before QEMU 8.1), of the guest's own code;
# time goes by instructions (-icount), so that every run is the same.
guest_log() { # LOG: or says why not
	command -v qemu-system-x86_64 >/dev/null || { echo "qemu-system-x86_64 is not installed"; return 1; }
	qemu-system-x86_64 -d help | grep -q '^nochain' || { echo "this QEMU logs in another way"; return 1; }
	single=-singlestep accel=tcg,thread=single
	qemu-system-x86_64 -help | grep -q -e '^-singlestep' || single= accel=$accel,one-insn-per-tb=on
	timeout 600 qemu-system-x86_64 -M pc -m 64 -display none -nodefaults -no-reboot -net none \
		-accel $accel -icount shift=4,sleep=off $single \
		-d exec,cpu,int,nochain \
		-dfilter 0x400000..0x500000,0xfffffe0000000000..0xfffffe0000ffffff,0xffffffff80000000..0xffffffffffffffff \
		-device isa-debug-exit,iobase=0xf4,iosize=1 -kernel "$guest/vmlinux" \
		2>"$1" >/dev/null </dev/null || : # the guest ends QEMU with a status
	grep -q '^Trace ' "$1" || { echo "QEMU does not run here: $(head -n 1 "$1")"; return 1; }
}
