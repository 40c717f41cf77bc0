/* SPDX-License-Identifier: MIT */
/* Opens one AUX stream with the engine that its input asks for. */
#ifndef DECODER_STREAMS_PT_STREAM_OPEN_H
#define DECODER_STREAMS_PT_STREAM_OPEN_H

#include "base/error.h"
#include "decoder/engine/pt_stream.h"

/*
 * Returns the stream, owned by the caller: close it with pt_stream_close(); NULL with err
 * filled on failure.
 */
struct pt_stream *pt_stream_open(const struct pt_stream_input *input, struct error *err);

#endif
