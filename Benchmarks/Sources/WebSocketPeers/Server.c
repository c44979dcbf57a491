// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "Frames.h"
#include "Handshake.h"
#include "WebSocketPeers.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/prctl.h>
#endif

enum { CAPACITY = 256 << 10 };

static const uint8_t close_frame[] = {0x88, 2, 0x03, 0xE8};

static void flood(input *input, long count) {
    static const char message[] = "\x81\x10" "0123456789abcdef";
    const size_t size = sizeof(message) - 1, batch = 4096;
    char *bytes = malloc(size * batch);
    if (!bytes) return;
    for (size_t i = 0; i < batch; i++) memcpy(bytes + i * size, message, size);
    for (long left = count; left > 0; left -= (long)batch) {
        size_t part = left < (long)batch ? (size_t)left : batch;
        if (websocket_send_all(input->socket, bytes, part * size) != 0) break;
    }
    free(bytes);
    websocket_send_all(input->socket, close_frame, sizeof(close_frame));
}

/// Takes messages until there are that many.
static void sink(input *input, long count) {
    frame frame;
    while (count > 0 && input_read_header(input, &frame)) {
        if ((frame.first & 15) >= 8 || !input_skip(input, frame.length)) return;
        if (frame.first & 0x80) count--;
    }
    if (count > 0) return;
    websocket_send_all(input->socket, "\x81\x04" "done", 6);
    websocket_send_all(input->socket, close_frame, sizeof(close_frame));
}

static void unmask(uint8_t *bytes, size_t count, const uint8_t key[4], uint64_t position) {
    uint8_t turned[8];
    for (int i = 0; i < 8; i++) turned[i] = key[(position + (uint64_t)i) & 3];
    uint64_t word;
    memcpy(&word, turned, 8);
    size_t index = 0;
    for (; index + 8 <= count; index += 8) {
        uint64_t part;
        memcpy(&part, bytes + index, 8);
        part ^= word;
        memcpy(bytes + index, &part, 8);
    }
    for (; index < count; index++) bytes[index] ^= turned[index & 7];
}

/// Sends back each frame until a close frame.
static void echo(input *input) {
    frame frame;
    while (input_read_header(input, &frame)) {
        if ((frame.first & 15) == 8) {
            websocket_send_all(input->socket, close_frame, sizeof(close_frame));
            return;
        }
        uint8_t header[14], key[4];
        memcpy(key, frame.key, 4);
        frame.is_masked = 0;
        if (websocket_send_all(input->socket, header, frame_write_header(&frame, header)) != 0) return;
        for (uint64_t position = 0; position < frame.length;) {
            if (!input_fill(input, 1)) return;
            size_t part = input->end - input->start;
            if (part > frame.length - position) part = (size_t)(frame.length - position);
            unmask(input->bytes + input->start, part, key, position);
            if (websocket_send_all(input->socket, input->bytes + input->start, part) != 0) return;
            input->start += part;
            position += part;
        }
    }
}

/// Answers the handshake, and does what the path says.
static void serve_websocket(input *input) {
    size_t received = 0;
    size_t head = websocket_read_head(input->socket, (char *)input->bytes, 4096, &received);
    if (head == 0) return;
    input->start = head;
    input->end = received;
    const char *text = (const char *)input->bytes;
    char path[64] = "";
    sscanf(text, "GET %63s", path);
    const char *key = strcasestr(text, "\r\nSec-WebSocket-Key: ");
    if (!key) return;
    key += 21;
    char accept[29], response[256];
    websocket_accept(key, strcspn(key, "\r"), accept);
    int count = snprintf(
        response, sizeof(response),
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n",
        accept);
    if (websocket_send_all(input->socket, response, (size_t)count) != 0) return;
    if (strncmp(path, "/flood/", 7) == 0) {
        flood(input, atol(path + 7));
    } else if (strncmp(path, "/sink/", 6) == 0) {
        sink(input, atol(path + 6));
    } else if (strcmp(path, "/echo") == 0) {
        // It has answered the close frame, and ends the connection first (RFC 6455 §7.1.1).
        echo(input);
        return;
    }
    // The client answers the close frame, or closes the connection; until then, nothing is reset.
    frame frame;
    while (input_read_header(input, &frame) && input_skip(input, frame.length) && (frame.first & 15) != 8) {}
}

static void *serve_connection(void *argument) {
    input input = {.socket = (int)(intptr_t)argument, .bytes = malloc(CAPACITY), .capacity = CAPACITY};
    int on = 1;
    setsockopt(input.socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (input.bytes) serve_websocket(&input);
    free(input.bytes);
    close(input.socket);
    return NULL;
}

static void serve(int listener) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256 << 10);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    int connection;
    while ((connection = accept(listener, NULL, NULL)) >= 0) {
        pthread_t thread;
        if (pthread_create(&thread, &attributes, serve_connection, (void *)(intptr_t)connection) != 0) close(connection);
    }
}

int websocket_start_server(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, length) != 0 || listen(listener, 4096) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &length) != 0) {
        return 0;
    }
    // A process of its own, so that its memory is not counted.
    pid_t child = fork();
    if (child < 0) return 0;
    if (child == 0) {
#if defined(__linux__)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
        serve(listener);
        _exit(0);
    }
    close(listener);
    return ntohs(address.sin_port);
}
