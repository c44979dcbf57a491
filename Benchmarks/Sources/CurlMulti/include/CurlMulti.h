// SPDX-License-Identifier: MIT
#pragma once

/// Gets the URL `total` times with `in_flight` transfers at a time on one libcurl multi handle, on this thread, into memory.
/// `authority` names the file with the trusted certificate, or is `NULL`. Returns the number of transfers that did not end with
/// status 200.
long curl_multi_gets(const char *url, const char *authority, int in_flight, long total);

/// Posts the file to the URL with libcurl's own file reading, in one transfer. Returns 0 when that ended with status 200.
int curl_upload_file(const char *url, const char *path);

/// Gets the URL in one transfer, into the file, or discards its body when `path` is `NULL`. Returns 0 when that ended with
/// status 200.
int curl_download(const char *url, const char *path);
