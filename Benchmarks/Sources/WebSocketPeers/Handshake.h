// SPDX-License-Identifier: MIT
#pragma once

#include <stddef.h>

/// The value of Sec-WebSocket-Accept for a key (RFC 6455 section 4.2.2): 28 characters and a zero.
void websocket_accept(const char *key, size_t key_length, char accept[29]);

int websocket_send_all(int socket, const void *bytes, size_t count);

/// Reads a head up to its empty line into a buffer, with a zero behind it. Returns the number of bytes of the head, and in
/// `received` that of all bytes; 0 when there is none.
size_t websocket_read_head(int socket, char *buffer, size_t capacity, size_t *received);
