// SPDX-License-Identifier: MIT
// libcurl's functions, with a typed function for each kind of option, because Swift cannot call variadic functions.
// `CurlDeclarationTests` compiles this file after <curl/curl.h>, so a prototype that differs does not compile.
#ifndef TARGETKIT_CURL_FUNCTIONS_H
#define TARGETKIT_CURL_FUNCTIONS_H

#include <stddef.h>

#ifdef __linux__
#include <fcntl.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
#endif

typedef size_t (*curl_write_callback)(char *buffer, size_t size, size_t count, void *user);
typedef size_t (*curl_read_callback)(char *buffer, size_t size, size_t count, void *user);
typedef int (*curl_seek_callback)(void *user, curl_off_t offset, int origin);
typedef int (*curl_xferinfo_callback)(void *user, curl_off_t download_total, curl_off_t downloaded,
                                      curl_off_t upload_total, curl_off_t uploaded);
typedef int (*curl_debug_callback)(CURL *easy, curl_infotype type, char *bytes, size_t count, void *user);
typedef int (*curl_prereq_callback)(void *user, char *remote, char *local, int remote_port, int local_port);
typedef curl_socket_t (*curl_opensocket_callback)(void *user, curlsocktype purpose, struct curl_sockaddr *address);
typedef int (*curl_resolver_start_callback)(void *state, void *reserved, void *user);
typedef int (*curl_closesocket_callback)(void *user, curl_socket_t descriptor);
typedef int (*curl_socket_callback)(CURL *easy, curl_socket_t descriptor, int what, void *user, void *socket_user);
typedef int (*curl_multi_timer_callback)(CURLM *multi, long milliseconds, void *user);

CURLcode curl_global_init(long flags);
curl_version_info_data *curl_version_info(CURLversion age);

CURL *curl_easy_init(void);
void curl_easy_cleanup(CURL *easy);
CURLcode curl_easy_setopt(CURL *easy, CURLoption option, ...);
CURLcode curl_easy_getinfo(CURL *easy, CURLINFO info, ...);
CURLcode curl_easy_pause(CURL *easy, int what);
CURLcode curl_easy_recv(CURL *easy, void *buffer, size_t size, size_t *count);
CURLcode curl_easy_send(CURL *easy, const void *bytes, size_t size, size_t *count);
const char *curl_easy_strerror(CURLcode code);

struct curl_slist *curl_slist_append(struct curl_slist *list, const char *text);
void curl_slist_free_all(struct curl_slist *list);

CURLSH *curl_share_init(void);
CURLSHcode curl_share_setopt(CURLSH *share, CURLSHoption option, ...);
CURLSHcode curl_share_cleanup(CURLSH *share);

CURLM *curl_multi_init(void);
CURLMcode curl_multi_cleanup(CURLM *multi);
CURLMcode curl_multi_setopt(CURLM *multi, CURLMoption option, ...);
CURLMcode curl_multi_add_handle(CURLM *multi, CURL *easy);
CURLMcode curl_multi_remove_handle(CURLM *multi, CURL *easy);
CURLMcode curl_multi_socket_action(CURLM *multi, curl_socket_t descriptor, int events, int *running);
CURLMsg *curl_multi_info_read(CURLM *multi, int *left);

static inline CURLcode ccurl_setopt_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode ccurl_setopt_offset(CURL *handle, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode ccurl_setopt_string(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode ccurl_setopt_pointer(CURL *handle, CURLoption option, void *value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode ccurl_setopt_list(CURL *handle, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(handle, option, value);
}
// The header function has the same shape as the write function.
static inline CURLcode ccurl_setopt_write(CURL *handle, CURLoption option, curl_write_callback value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode ccurl_setopt_read(CURL *handle, curl_read_callback value) {
    return curl_easy_setopt(handle, CURLOPT_READFUNCTION, value);
}
static inline CURLcode ccurl_setopt_seek(CURL *handle, curl_seek_callback value) {
    return curl_easy_setopt(handle, CURLOPT_SEEKFUNCTION, value);
}
static inline CURLcode ccurl_setopt_progress(CURL *handle, curl_xferinfo_callback value) {
    return curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, value);
}
static inline CURLcode ccurl_setopt_debug(CURL *handle, curl_debug_callback value) {
    return curl_easy_setopt(handle, CURLOPT_DEBUGFUNCTION, value);
}
static inline CURLcode ccurl_setopt_resolver_start(CURL *handle, curl_resolver_start_callback value) {
    return curl_easy_setopt(handle, CURLOPT_RESOLVER_START_FUNCTION, value);
}
static inline CURLcode ccurl_setopt_open_socket(CURL *handle, curl_opensocket_callback value) {
    return curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, value);
}
static inline CURLcode ccurl_setopt_close_socket(CURL *handle, curl_closesocket_callback value) {
    return curl_easy_setopt(handle, CURLOPT_CLOSESOCKETFUNCTION, value);
}

// Called before a request is sent. Before 7.80: `CURLE_UNKNOWN_OPTION`.
static inline CURLcode ccurl_setopt_prereq(CURL *handle, curl_prereq_callback value) {
    return curl_easy_setopt(handle, CURLOPT_PREREQFUNCTION, value);
}
// Creates a share of TLS sessions for the handles of one thread.
static inline CURLSH *ccurl_share_sessions(void) {
    CURLSH *share = curl_share_init();
    if (share) {
        curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
    }
    return share;
}

// Certificates in PEM, which libcurl copies. Before 7.77: `CURLE_UNKNOWN_OPTION`.
static inline CURLcode ccurl_setopt_authorities(CURL *handle, const void *bytes, size_t count) {
    struct curl_blob blob = {.data = (void *)bytes, .len = count, .flags = CURL_BLOB_COPY};
    return curl_easy_setopt(handle, CURLOPT_CAINFO_BLOB, &blob);
}

// Lets through http and https only. The option that takes a list of names came with 7.85 and supersedes the other.
static inline CURLcode ccurl_allow_http_only(CURL *handle) {
    if (curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK) {
        return CURLE_OK;
    }
    return curl_easy_setopt(handle, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
}
// A cancelled name lookup continues in the background. Before 7.87, which lacks the option, libcurl waits for it.
static inline CURLcode ccurl_leave_lookups_behind(CURL *handle) {
    return curl_easy_setopt(handle, CURLOPT_QUICK_EXIT, 1L);
}

static inline CURLcode ccurl_getinfo_long(CURL *handle, CURLINFO info, long *value) {
    return curl_easy_getinfo(handle, info, value);
}
static inline CURLcode ccurl_getinfo_offset(CURL *handle, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(handle, info, value);
}
static inline CURLcode ccurl_getinfo_string(CURL *handle, CURLINFO info, char **value) {
    return curl_easy_getinfo(handle, info, value);
}
// The socket of a handle that was connected with `CURLOPT_CONNECT_ONLY`; `CURL_SOCKET_BAD`: there is none.
static inline curl_socket_t ccurl_active_socket(CURL *handle) {
    curl_socket_t descriptor = CURL_SOCKET_BAD;
    curl_easy_getinfo(handle, CURLINFO_ACTIVESOCKET, &descriptor);
    return descriptor;
}
static inline void *ccurl_private(CURL *handle) {
    char *value = NULL;
    curl_easy_getinfo(handle, CURLINFO_PRIVATE, &value);
    return value;
}

static inline CURLMcode ccurl_multi_setopt_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}
static inline CURLMcode ccurl_multi_setopt_pointer(CURLM *multi, CURLMoption option, void *value) {
    return curl_multi_setopt(multi, option, value);
}
static inline CURLMcode ccurl_multi_setopt_socket(CURLM *multi, curl_socket_callback value) {
    return curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, value);
}
static inline CURLMcode ccurl_multi_setopt_timer(CURLM *multi, curl_multi_timer_callback value) {
    return curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, value);
}

// The next handle that is done, with its result; NULL when there is none.
static inline CURL *ccurl_multi_next_done(CURLM *multi, CURLcode *result) {
    int left = 0;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &left))) {
        if (message->msg == CURLMSG_DONE) {
            *result = message->data.result;
            return message->easy_handle;
        }
    }
    return NULL;
}

#ifdef __linux__
static inline int ccurl_eventfd(void) {
    return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}
static inline int ccurl_epoll(void) {
    return epoll_create1(EPOLL_CLOEXEC);
}
static inline int ccurl_epoll_set(int epoll, int operation, int descriptor, uint32_t events) {
    struct epoll_event event = {.events = events, .data = {.fd = descriptor}};
    return epoll_ctl(epoll, operation, descriptor, &event);
}
// Sends what the system takes at once, and raises no SIGPIPE. Returns the number of bytes, or -1.
static inline ssize_t ccurl_send_now(int descriptor, const void *bytes, size_t count) {
    return send(descriptor, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL);
}
// A socket whose other end is closed; -1: there are no descriptors left.
static inline int ccurl_ended_socket(void) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return -1;
    close(pair[1]);
    return pair[0];
}
// Closes a descriptor, which becomes another name of the second.
static inline int ccurl_replace(int descriptor, int replacement) {
    return dup3(replacement, descriptor, O_CLOEXEC);
}

// Swift reads these as they are; the names in C are macros over an enum.
static const uint32_t ccurl_epoll_in = EPOLLIN;
static const uint32_t ccurl_epoll_out = EPOLLOUT;
static const uint32_t ccurl_epoll_failed = EPOLLERR | EPOLLHUP;
static const uint32_t ccurl_epoll_edge = EPOLLET;
#endif

#endif
