// SPDX-License-Identifier: MIT
#include "Frames.h"

#include <string.h>
#include <sys/socket.h>

int input_fill(input *input, size_t count) {
    while (input->end - input->start < count) {
        if (input->start > 0) {
            memmove(input->bytes, input->bytes + input->start, input->end - input->start);
            input->end -= input->start;
            input->start = 0;
        }
        ssize_t part = recv(input->socket, input->bytes + input->end, input->capacity - input->end, 0);
        if (part <= 0) return 0;
        input->end += (size_t)part;
    }
    return 1;
}

int input_read_header(input *input, frame *frame) {
    if (!input_fill(input, 2)) return 0;
    const uint8_t *bytes = input->bytes + input->start;
    frame->first = bytes[0];
    frame->is_masked = bytes[1] >> 7;
    frame->length = bytes[1] & 127;
    size_t extra = frame->length == 126 ? 2 : frame->length == 127 ? 8 : 0;
    size_t size = 2 + extra + (frame->is_masked ? 4 : 0);
    if (!input_fill(input, size)) return 0;
    bytes = input->bytes + input->start + 2;
    if (extra > 0) frame->length = 0;
    for (size_t i = 0; i < extra; i++) frame->length = frame->length << 8 | bytes[i];
    if (frame->is_masked) memcpy(frame->key, bytes + extra, 4);
    input->start += size;
    return 1;
}

int input_skip(input *input, uint64_t count) {
    while (count > 0) {
        if (!input_fill(input, 1)) return 0;
        size_t part = input->end - input->start;
        if (part > count) part = (size_t)count;
        input->start += part;
        count -= part;
    }
    return 1;
}

size_t frame_write_header(const frame *frame, uint8_t *bytes) {
    size_t extra = frame->length < 126 ? 0 : frame->length < 65536 ? 2 : 8;
    bytes[0] = frame->first;
    bytes[1] = (uint8_t)((frame->is_masked ? 0x80 : 0) | (extra == 0 ? frame->length : extra == 2 ? 126 : 127));
    for (size_t i = 0; i < extra; i++) bytes[2 + i] = (uint8_t)(frame->length >> (8 * (extra - 1 - i)));
    if (frame->is_masked) memcpy(bytes + 2 + extra, frame->key, 4);
    return 2 + extra + (frame->is_masked ? 4 : 0);
}
