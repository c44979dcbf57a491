// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "Loopback.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdint.h>
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

static void serve_sink_connection(int connection, char *buffer, size_t capacity) {
    static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    size_t count = 0;
    for (;;) {
        size_t head_end = 0;
        long long length = -1;
        while ((length = body_length(buffer, count, &head_end)) < 0) {
            ssize_t received = count < capacity ? recv(connection, buffer + count, capacity - count, 0) : 0;
            if (received <= 0) return;
            count += (size_t)received;
        }
        long long left = length - (long long)(count - head_end);
        while (left > 0) {
            ssize_t received = recv(connection, buffer, capacity, 0);
            if (received <= 0) return;
            left -= received;
        }
        count = 0;
        if (send(connection, answer, sizeof(answer) - 1, MSG_NOSIGNAL) < 0) return;
    }
}

static void *serve_connection(void *argument) {
    size_t capacity = 1 << 18;
    char *buffer = malloc(capacity);
    if (buffer) serve_sink_connection((int)(intptr_t)argument, buffer, capacity);
    free(buffer);
    close((int)(intptr_t)argument);
    return NULL;
}

static void *serve_sink(void *listener) {
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

int loopback_start_sink(void) {
    return start(serve_sink);
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
