/* SPDX-License-Identifier: MIT */
/* Closes the descriptors that a new process has no use for. */
#ifndef BASE_IO_CLOSE_FROM_H
#define BASE_IO_CLOSE_FROM_H

/* Close all descriptors from `first` up, like closefrom(3), which some C libraries lack. */
void close_from(int first);

#endif
