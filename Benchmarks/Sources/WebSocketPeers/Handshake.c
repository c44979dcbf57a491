// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "Handshake.h"

#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

static uint32_t rotate(uint32_t value, int bits) {
    return value << bits | value >> (32 - bits);
}

/// One block of SHA-1 (RFC 3174 section 6.1).
static void hash_block(uint32_t state[5], const uint8_t block[64]) {
    uint32_t words[80];
    for (int i = 0; i < 16; i++) {
        words[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 | (uint32_t)block[4 * i + 2] << 8 |
                   block[4 * i + 3];
    }
    for (int i = 16; i < 80; i++) words[i] = rotate(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
    for (int i = 0; i < 80; i++) {
        uint32_t f = i < 20 ? (b & c) | (~b & d) : i < 40 ? b ^ c ^ d : i < 60 ? (b & c) | (b & d) | (c & d) : b ^ c ^ d;
        uint32_t k = i < 20 ? 0x5A827999 : i < 40 ? 0x6ED9EBA1 : i < 60 ? 0x8F1BBCDC : 0xCA62C1D6;
        uint32_t next = rotate(a, 5) + f + e + k + words[i];
        e = d, d = c, c = rotate(b, 30), b = a, a = next;
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d, state[4] += e;
}

void websocket_accept(const char *key, size_t key_length, char accept[29]) {
    static const char guid[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint8_t text[128] = {0};
    size_t length = key_length + sizeof(guid) - 1;
    if (length > sizeof(text) - 9) length = sizeof(text) - 9, key_length = length - (sizeof(guid) - 1);
    memcpy(text, key, key_length);
    memcpy(text + key_length, guid, sizeof(guid) - 1);
    text[length] = 0x80;
    size_t blocks = (length + 9 + 63) / 64;
    uint64_t bits = (uint64_t)length * 8;
    for (int i = 0; i < 8; i++) text[blocks * 64 - 1 - i] = (uint8_t)(bits >> (8 * i));
    uint32_t state[5] = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0};
    for (size_t block = 0; block < blocks; block++) hash_block(state, text + 64 * block);
    uint8_t hash[21] = {0};
    for (int i = 0; i < 20; i++) hash[i] = (uint8_t)(state[i / 4] >> (24 - 8 * (i % 4)));
    for (int i = 0; i < 7; i++) {
        uint32_t group = (uint32_t)hash[3 * i] << 16 | (uint32_t)hash[3 * i + 1] << 8 | hash[3 * i + 2];
        for (int j = 0; j < 4; j++) accept[4 * i + j] = digits[group >> (18 - 6 * j) & 63];
    }
    accept[27] = '=';
    accept[28] = 0;
}

int websocket_send_all(int socket, const void *bytes, size_t count) {
    const char *next = bytes;
    while (count > 0) {
        ssize_t sent = send(socket, next, count, MSG_NOSIGNAL);
        if (sent < 0) return -1;
        next += sent;
        count -= (size_t)sent;
    }
    return 0;
}

size_t websocket_read_head(int socket, char *buffer, size_t capacity, size_t *received) {
    size_t count = 0;
    while (count + 1 < capacity) {
        ssize_t part = recv(socket, buffer + count, capacity - 1 - count, 0);
        if (part <= 0) return 0;
        count += (size_t)part;
        buffer[count] = 0;
        const char *end = memmem(buffer, count, "\r\n\r\n", 4);
        if (!end) continue;
        *received = count;
        return (size_t)(end - buffer) + 4;
    }
    return 0;
}
