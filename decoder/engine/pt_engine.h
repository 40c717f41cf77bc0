/* SPDX-License-Identifier: MIT */
/* The decoders of Intel PT; each run chooses one (pt_stream.h). */
#ifndef DECODER_ENGINE_PT_ENGINE_H
#define DECODER_ENGINE_PT_ENGINE_H

enum pt_engine { PT_ENGINE_FAST = 0, PT_ENGINE_LIBIPT };

#endif
