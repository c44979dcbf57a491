// SPDX-License-Identifier: MIT
#pragma once

#include <stddef.h>
#include <stdint.h>

/// The bytes that have arrived on a socket and are not read.
typedef struct {
    int socket;
    uint8_t *bytes;
    size_t start, end, capacity;
} input;

/// The header of a frame (RFC 6455 section 5.2).
typedef struct {
    uint8_t first, key[4];
    int is_masked;
    uint64_t length;
} frame;

/// Waits until there are at least `count` bytes; returns 0 at the end of the connection.
int input_fill(input *input, size_t count);

/// Reads a header; returns 0 at the end of the connection.
int input_read_header(input *input, frame *frame);

/// Passes over bytes; returns 0 at the end of the connection.
int input_skip(input *input, uint64_t count);

/// Writes a header; returns its size, at most 14.
size_t frame_write_header(const frame *frame, uint8_t *bytes);
