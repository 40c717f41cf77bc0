/* SPDX-License-Identifier: MIT */
/* The decoders of Intel PT; each run chooses one (pt_stream.h). */
#pragma once

enum pt_engine { PT_ENGINE_FAST = 0, PT_ENGINE_LIBIPT };
