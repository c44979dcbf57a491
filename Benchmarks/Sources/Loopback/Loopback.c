// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "Loopback.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

/// A listening socket and its port.
static int listen_on_loopback(int *port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (listener < 0) return -1;
    if (bind(listener, (struct sockaddr *)&address, length) != 0 || listen(listener, 4096) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &length) != 0) {
        close(listener);
        return -1;
    }
    *port = ntohs(address.sin_port);
    return listener;
}

static int start(void *(*serve)(void *)) {
    int port = 0;
    int listener = listen_on_loopback(&port);
    pthread_t thread;
    if (listener < 0 || pthread_create(&thread, NULL, serve, (void *)(intptr_t)listener) != 0) return 0;
    pthread_detach(thread);
    return port;
}

/// The length of the body that follows the head, and where the head ends; -1 while the head is not whole.
static long long body_length(const char *bytes, size_t count, size_t *head_end) {
    const char *end = memmem(bytes, count, "\r\n\r\n", 4);
    if (!end) return -1;
    *head_end = (size_t)(end - bytes) + 4;
    for (const char *line = bytes; line < end; line++) {
        if (line[0] == '\n' && strncasecmp(line + 1, "content-length:", 15) == 0) return atoll(line + 16);
    }
    return 0;
}

/// How many zeros the request's path asks for: `GET /1000`; -1 when it names no number.
static long long requested_length(const char *head) {
    return strncmp(head, "GET /", 5) == 0 && head[5] >= '0' && head[5] <= '9' ? atoll(head + 5) : -1;
}

static int send_all(int connection, const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t sent = send(connection, bytes, count, MSG_NOSIGNAL);
        if (sent < 0) return -1;
        bytes += sent;
        count -= (size_t)sent;
    }
    return 0;
}

/// Sends the head and `length` zeros, or a short text when no length was wanted.
static int respond(int connection, long long length) {
    static const char zeros[1 << 18];
    static const char text[] = "ok\n";
    char head[256];
    int count = snprintf(
        head, sizeof(head),
        "HTTP/1.1 200 OK\r\nServer: loopback\r\nDate: Tue, 24 Nov 2026 12:00:00 GMT\r\nContent-Type: text/plain\r\n"
        "Content-Length: %lld\r\nConnection: keep-alive\r\n\r\n%s",
        length < 0 ? (long long)strlen(text) : length, length < 0 ? text : "");
    if (send_all(connection, head, (size_t)count) != 0) return -1;
    while (length > 0) {
        size_t part = length < (long long)sizeof(zeros) ? (size_t)length : sizeof(zeros);
        if (send_all(connection, zeros, part) != 0) return -1;
        length -= (long long)part;
    }
    return 0;
}

static void serve_requests(int connection, char *buffer, size_t capacity) {
    size_t count = 0;
    for (;;) {
        size_t head_end = 0;
        long long length = -1;
        while ((length = body_length(buffer, count, &head_end)) < 0) {
            ssize_t received = count < capacity ? recv(connection, buffer + count, capacity - count, 0) : 0;
            if (received <= 0) return;
            count += (size_t)received;
        }
        long long requested = requested_length(buffer);
        long long left = length - (long long)(count - head_end);
        while (left > 0) {
            ssize_t received = recv(connection, buffer, capacity, 0);
            if (received <= 0) return;
            left -= received;
        }
        count = 0;
        if (respond(connection, requested) != 0) return;
    }
}

static void *serve_connection(void *argument) {
    size_t capacity = 1 << 18;
    char *buffer = malloc(capacity);
    if (buffer) serve_requests((int)(intptr_t)argument, buffer, capacity);
    free(buffer);
    close((int)(intptr_t)argument);
    return NULL;
}

static void *serve(void *listener) {
    int connection;
    while ((connection = accept((int)(intptr_t)listener, NULL, NULL)) >= 0) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, serve_connection, (void *)(intptr_t)connection) != 0) return NULL;
        pthread_detach(thread);
    }
    return NULL;
}

/// Reads and drops, so that a connection that the client has closed is closed here as well.
static void *serve_silence(void *argument);

int loopback_start_server(void) {
    return start(serve);
}

int loopback_start_silence(void) {
    return start(serve_silence);
}

#if defined(__linux__)
#include <sys/epoll.h>

static void *serve_silence(void *argument) {
    int listener = (int)(intptr_t)argument;
    int queue = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener};
    epoll_ctl(queue, EPOLL_CTL_ADD, listener, &event);
    char buffer[4096];
    for (;;) {
        struct epoll_event events[256];
        int count = epoll_wait(queue, events, 256, -1);
        for (int i = 0; i < count; i++) {
            int socket = events[i].data.fd;
            if (socket == listener) {
                int connection = accept(listener, NULL, NULL);
                if (connection < 0) continue;
                event.data.fd = connection;
                epoll_ctl(queue, EPOLL_CTL_ADD, connection, &event);
            } else if (recv(socket, buffer, sizeof(buffer), MSG_DONTWAIT) == 0 || (events[i].events & EPOLLERR)) {
                close(socket);
            }
        }
    }
}
#endif
