/* SPDX-License-Identifier: MIT */
/*
 * Renames base's functions in libftf, so that a program that links the static
 * library may use these names itself.  The compiler's command line includes it
 * before every source of libftf.
 */
#ifndef WRITER_PRIVATE_NAMES_H
#define WRITER_PRIVATE_NAMES_H

#define error_prefix             ftf_private_error_prefix
#define error_set                ftf_private_error_set
#define error_set_at             ftf_private_error_set_at
#define error_set_system         ftf_private_error_set_system
#define file_makers              ftf_private_file_makers
#define file_makers_own          ftf_private_file_makers_own
#define hash_bytes               ftf_private_hash_bytes
#define id_index_move            ftf_private_id_index_move
#define id_index_put             ftf_private_id_index_put
#define id_index_release         ftf_private_id_index_release
#define id_index_wants           ftf_private_id_index_wants
#define output_abandon           ftf_private_output_abandon
#define output_ask               ftf_private_output_ask
#define output_carry             ftf_private_output_carry
#define output_clear             ftf_private_output_clear
#define output_close             ftf_private_output_close
#define output_remove_unfinished ftf_private_output_remove_unfinished
#define output_name_temporary    ftf_private_output_name_temporary
#define output_is_readable       ftf_private_output_is_readable
#define output_map               ftf_private_output_map
#define output_limit             ftf_private_output_limit
#define output_is_system_link    ftf_private_output_is_system_link
#define output_open              ftf_private_output_open
#define output_open_text         ftf_private_output_open_text
#define output_drop              ftf_private_output_drop
#define output_compress          ftf_private_output_compress
#define output_hold              ftf_private_output_hold
#define output_place             ftf_private_output_place
#define output_remove_left       ftf_private_output_remove_left
#define output_reserve           ftf_private_output_reserve
#define output_room              ftf_private_output_room
#define output_size              ftf_private_output_size
#define output_stream            ftf_private_output_stream
#define output_track_unfinished  ftf_private_output_track_unfinished
#define output_write             ftf_private_output_write
#define output_write_now         ftf_private_output_write_now
#define compressor_abandon       ftf_private_compressor_abandon
#define compressor_close         ftf_private_compressor_close
#define compressor_open          ftf_private_compressor_open
#define compressor_put           ftf_private_compressor_put
#define compression_of_path      ftf_private_compression_of_path
#define printable_pass           ftf_private_printable_pass
#define printable_print          ftf_private_printable_print

#endif
