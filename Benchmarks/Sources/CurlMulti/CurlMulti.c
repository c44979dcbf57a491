// SPDX-License-Identifier: MIT
#include "CurlMulti.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct {
    char *bytes;
    size_t count, capacity;
} buffer;

typedef struct {
    CURL *handle;
    buffer head, body;
} transfer;

/// Keeps what comes: lines of the head, or bytes of the body.
static size_t receive(char *bytes, size_t size, size_t count, void *context) {
    buffer *buffer = context;
    size_t length = size * count;
    if (buffer->count + length > buffer->capacity) {
        size_t capacity = (buffer->count + length) * 2;
        char *grown = realloc(buffer->bytes, capacity);
        if (!grown) return 0;
        buffer->bytes = grown;
        buffer->capacity = capacity;
    }
    memcpy(buffer->bytes + buffer->count, bytes, length);
    buffer->count += length;
    return length;
}

static int start(CURLM *multi, transfer *transfer) {
    transfer->head.count = transfer->body.count = 0;
    return curl_multi_add_handle(multi, transfer->handle) == CURLM_OK;
}

/// Counts what has ended, and starts the next transfer in its place.
static void collect(CURLM *multi, long *to_start, long *left, long *failed) {
    int queued;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &queued))) {
        if (message->msg != CURLMSG_DONE) continue;
        CURL *handle = message->easy_handle;
        CURLcode code = message->data.result;
        long status = 0;
        transfer *transfer = NULL;
        curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
        curl_easy_getinfo(handle, CURLINFO_PRIVATE, (char **)&transfer);
        if (code != CURLE_OK || status != 200) *failed += 1;
        curl_multi_remove_handle(multi, handle);
        *left -= 1;
        if (*to_start > 0 && start(multi, transfer)) *to_start -= 1;
    }
}

long curl_multi_gets(const char *url, const char *authority, int in_flight, long total) {
    CURLM *multi = curl_multi_init();
    transfer *transfers = calloc((size_t)in_flight, sizeof(transfer));
    if (!multi || !transfers) return total;
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)in_flight * 2);
    // The same request as TargetKit's, in the way that costs libcurl least.
    struct curl_slist *headers = curl_slist_append(NULL, "User-Agent: TargetKit/0.1.0 (libcurl)");
    headers = curl_slist_append(headers, "Accept-Encoding: gzip, deflate, br, zstd");
    long to_start = total, left = total, failed = 0;
    for (int i = 0; i < in_flight; i++) {
        CURL *handle = transfers[i].handle = curl_easy_init();
        curl_easy_setopt(handle, CURLOPT_URL, url);
        curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(handle, CURLOPT_PRIVATE, &transfers[i]);
        curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, receive);
        curl_easy_setopt(handle, CURLOPT_WRITEDATA, &transfers[i].body);
        curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, receive);
        curl_easy_setopt(handle, CURLOPT_HEADERDATA, &transfers[i].head);
        curl_easy_setopt(handle, CURLOPT_ACCEPT_ENCODING, "");
        curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers);
        if (authority) curl_easy_setopt(handle, CURLOPT_CAINFO, authority);
        if (to_start > 0 && start(multi, &transfers[i])) to_start--;
    }
    int running = 0;
    while (left > 0) {
        if (curl_multi_perform(multi, &running) != CURLM_OK) break;
        collect(multi, &to_start, &left, &failed);
        if (left > 0) curl_multi_poll(multi, NULL, 0, 1000, NULL);
    }
    for (int i = 0; i < in_flight; i++) {
        curl_multi_remove_handle(multi, transfers[i].handle);
        curl_easy_cleanup(transfers[i].handle);
        free(transfers[i].head.bytes);
        free(transfers[i].body.bytes);
    }
    free(transfers);
    curl_slist_free_all(headers);
    curl_multi_cleanup(multi);
    return failed + left;
}

static size_t ignore(char *bytes, size_t size, size_t count, void *context) {
    (void)bytes;
    (void)context;
    return size * count;
}

static size_t write_to_file(char *bytes, size_t size, size_t count, void *file) {
    return fwrite(bytes, size, count, file) * size;
}

int curl_download(const char *url, const char *path) {
    FILE *file = path ? fopen(path, "wb") : NULL;
    CURL *handle = curl_easy_init();
    if (!handle || (path && !file)) return 1;
    curl_easy_setopt(handle, CURLOPT_URL, url);
    curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    // The largest buffer that libcurl takes; with the default of 16 KiB it is slower.
    curl_easy_setopt(handle, CURLOPT_BUFFERSIZE, 512L << 10);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, file ? write_to_file : ignore);
    if (file) curl_easy_setopt(handle, CURLOPT_WRITEDATA, file);
    long status = 0;
    CURLcode code = curl_easy_perform(handle);
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_cleanup(handle);
    if (file && fclose(file) != 0) return 1;
    return code == CURLE_OK && status == 200 ? 0 : 1;
}

int curl_upload_file(const char *url, const char *path) {
    FILE *file = fopen(path, "rb");
    CURL *handle = curl_easy_init();
    struct stat info;
    if (!file || !handle || fstat(fileno(file), &info) != 0) return 1;
    struct curl_slist *headers = curl_slist_append(NULL, "Expect:");
    curl_easy_setopt(handle, CURLOPT_URL, url);
    curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(handle, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, "POST");
    curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(handle, CURLOPT_READDATA, file);
    curl_easy_setopt(handle, CURLOPT_INFILESIZE_LARGE, (curl_off_t)info.st_size);
    curl_easy_setopt(handle, CURLOPT_UPLOAD_BUFFERSIZE, 1L << 20);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, ignore);
    long status = 0;
    CURLcode code = curl_easy_perform(handle);
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_cleanup(handle);
    curl_slist_free_all(headers);
    fclose(file);
    return code == CURLE_OK && status == 200 ? 0 : 1;
}
