/* SPDX-License-Identifier: MIT */
/*
 * Mapped files that cannot be read: a file that becomes shorter while it is
 * mapped, or a disk that fails, ends the access in SIGBUS (mmap(2)).
 */
#ifndef BASE_FAULT_H
#define BASE_FAULT_H

/*
 * Have such an access name the file, remove the unfinished output and end the program with status
 * 1.  Any other SIGBUS is a bug and keeps its core.  For main(): a library leaves signals alone.
 */
void fault_watch(void);

#endif
