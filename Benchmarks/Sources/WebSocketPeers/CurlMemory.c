// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "WebSocketPeers.h"

#include <curl/curl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static long resident_bytes(void) {
    long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file) return 0;
    if (fscanf(file, "%ld %ld", &pages, &resident) != 2) resident = 0;
    fclose(file);
    return resident * sysconf(_SC_PAGESIZE);
}

/// Sends the request of a WebSocket on an open connection, and reads its response; returns whether that is a 101.
static int shake_hands(CURL *handle, int port) {
    char request[512], response[1024];
    size_t sent = 0, received = 0, part = 0;
    curl_socket_t descriptor = CURL_SOCKET_BAD;
    int count = snprintf(
        request, sizeof(request),
        "GET /idle HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        port);
    curl_easy_getinfo(handle, CURLINFO_ACTIVESOCKET, &descriptor);
    if (curl_easy_send(handle, request, (size_t)count, &sent) != CURLE_OK || sent != (size_t)count) return 0;
    while (received < sizeof(response) - 1) {
        struct pollfd entry = {.fd = descriptor, .events = POLLIN};
        if (poll(&entry, 1, 5000) != 1) return 0;
        if (curl_easy_recv(handle, response + received, sizeof(response) - 1 - received, &part) != CURLE_OK) return 0;
        received += part;
        response[received] = 0;
        if (strstr(response, "\r\n\r\n")) return strstr(response, " 101 ") != NULL;
    }
    return 0;
}

/// Opens connections at once; returns 0 if all of them are WebSockets.
static int open_all(CURLM *multi, CURL **handles, int count, int port) {
    char url[64];
    int running = 0, queued = 0, opened = 0;
    CURLMsg *message;
    snprintf(url, sizeof(url), "http://127.0.0.1:%d/idle", port);
    for (int i = 0; i < count; i++) {
        handles[i] = curl_easy_init();
        if (!handles[i]) return -1;
        curl_easy_setopt(handles[i], CURLOPT_URL, url);
        curl_easy_setopt(handles[i], CURLOPT_PROXY, "");
        curl_easy_setopt(handles[i], CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(handles[i], CURLOPT_FRESH_CONNECT, 1L);
        curl_easy_setopt(handles[i], CURLOPT_CONNECT_ONLY, 1L);
        if (curl_multi_add_handle(multi, handles[i]) != CURLM_OK) return -1;
    }
    do {
        if (curl_multi_perform(multi, &running) != CURLM_OK) return -1;
        while ((message = curl_multi_info_read(multi, &queued))) {
            if (message->msg != CURLMSG_DONE || message->data.result != CURLE_OK) return -1;
            if (!shake_hands(message->easy_handle, port)) return -1;
            opened++;
        }
        if (running > 0) curl_multi_poll(multi, NULL, 0, 1000, NULL);
    } while (running > 0);
    return opened == count ? 0 : -1;
}

/// What is resident with the WebSockets minus before, after a first one; -1 if that failed.
static long measure(int port, int count) {
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max < 8192 ? limit.rlim_max : 8192;
    setrlimit(RLIMIT_NOFILE, &limit);
    CURLM *multi = curl_multi_init();
    CURL **handles = calloc((size_t)count + 1, sizeof(CURL *));
    if (!multi || !handles) return -1;
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)count * 2);
    if (open_all(multi, handles, 1, port) != 0) return -1;
    long before = resident_bytes();
    if (open_all(multi, handles + 1, count, port) != 0) return -1;
    return resident_bytes() - before;
}

long websocket_curl_memory(int port, int count) {
    int ends[2];
    long result = -1;
    if (pipe(ends) != 0) return -1;
    pid_t child = fork();
    if (child == 0) {
        result = measure(port, count);
        // The system closes the connections.
        _exit(write(ends[1], &result, sizeof(result)) == sizeof(result) ? 0 : 1);
    }
    close(ends[1]);
    if (child < 0 || read(ends[0], &result, sizeof(result)) != sizeof(result)) result = -1;
    close(ends[0]);
    if (child > 0) waitpid(child, NULL, 0);
    return result;
}
