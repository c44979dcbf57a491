// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "Frames.h"
#include "Handshake.h"
#include "WebSocketPeers.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CAPACITY = 64 << 10 };

/// The last message, so that the compiler does not leave out its memory.
static char *volatile last_message;

/// Opens a WebSocket; returns 0 when that fails.
static int open_socket(int port, const char *path, input *input) {
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons((uint16_t)port)};
    int on = 1;
    memset(input, 0, sizeof(*input));
    input->capacity = CAPACITY;
    input->bytes = malloc(CAPACITY);
    input->socket = socket(AF_INET, SOCK_STREAM, 0);
    if (!input->bytes || connect(input->socket, (struct sockaddr *)&address, sizeof(address)) != 0) return 0;
    setsockopt(input->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    char request[512];
    int count = snprintf(
        request, sizeof(request),
        "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        path, port);
    if (websocket_send_all(input->socket, request, (size_t)count) != 0) return 0;
    input->start = websocket_read_head(input->socket, (char *)input->bytes, 4096, &input->end);
    return input->start > 0 && strstr((char *)input->bytes, " 101 ") != NULL;
}

static void close_socket(input *input) {
    free(input->bytes);
    if (input->socket >= 0) close(input->socket);
}

static uint32_t next_key(void) {
    static uint32_t state = 0x9E3779B9;
    state ^= state << 13, state ^= state >> 17, state ^= state << 5;
    return state;
}

long websocket_receive(int port, long count) {
    input input;
    char path[64];
    long received = 0;
    snprintf(path, sizeof(path), "/flood/%ld", count);
    frame frame;
    if (open_socket(port, path, &input)) {
        while (input_read_header(&input, &frame) && (frame.first & 15) != 8 && input_fill(&input, frame.length)) {
            char *message = malloc(frame.length + 1);
            if (!message) break;
            memcpy(message, input.bytes + input.start, frame.length);
            message[frame.length] = 0;
            last_message = message;
            received++;
            free(message);
            input.start += frame.length;
        }
    }
    close_socket(&input);
    return received;
}

int websocket_send(int port, long count) {
    static const char message[] = "0123456789abcdef";
    input input;
    char path[64];
    int is_done = 0;
    snprintf(path, sizeof(path), "/sink/%ld", count);
    if (open_socket(port, path, &input)) {
        frame frame = {.first = 0x81, .is_masked = 1, .length = sizeof(message) - 1};
        for (long i = 0; i < count; i++) {
            uint8_t bytes[32];
            uint32_t key = next_key();
            memcpy(frame.key, &key, 4);
            size_t size = frame_write_header(&frame, bytes);
            for (size_t j = 0; j < frame.length; j++) bytes[size + j] = (uint8_t)message[j] ^ frame.key[j & 3];
            if (websocket_send_all(input.socket, bytes, size + frame.length) != 0) break;
        }
        is_done = input_read_header(&input, &frame) && frame.length == 4;
    }
    close_socket(&input);
    return is_done ? 0 : -1;
}

typedef struct {
    int socket;
    long size;
} outgoing;

/// Sends a message as one frame.
static void *send_message(void *argument) {
    outgoing *outgoing = argument;
    uint8_t *bytes = calloc(1, CAPACITY), header[14];
    uint32_t key = next_key();
    frame frame = {.first = 0x82, .is_masked = 1, .length = (uint64_t)outgoing->size};
    memcpy(frame.key, &key, 4);
    int status = websocket_send_all(outgoing->socket, header, frame_write_header(&frame, header));
    for (long left = outgoing->size; bytes && left > 0 && status == 0;) {
        long part = left < CAPACITY ? left : CAPACITY;
        uint64_t word = (uint64_t)key << 32 | key;
        // Masked zeros; a part is a multiple of the key's size, but for the last one.
        for (long i = 0; i < CAPACITY; i += 8) {
            uint64_t masked = 0 ^ word;
            memcpy(bytes + i, &masked, 8);
        }
        status = websocket_send_all(outgoing->socket, bytes, (size_t)part);
        left -= part;
    }
    free(bytes);
    return NULL;
}

long websocket_echo(int port, long size) {
    input input;
    long received = -1;
    if (open_socket(port, "/echo", &input)) {
        outgoing outgoing = {.socket = input.socket, .size = size};
        pthread_t thread;
        frame frame;
        if (pthread_create(&thread, NULL, send_message, &outgoing) == 0) {
            char *message = malloc((size_t)size);
            if (message && input_read_header(&input, &frame) && frame.length == (uint64_t)size) {
                for (received = 0; received < size && input_fill(&input, 1);) {
                    size_t part = input.end - input.start;
                    memcpy(message + received, input.bytes + input.start, part);
                    received += (long)part;
                    input.start = input.end;
                }
            }
            pthread_join(thread, NULL);
            free(message);
        }
    }
    close_socket(&input);
    return received;
}
