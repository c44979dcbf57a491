// SPDX-License-Identifier: MIT
#pragma once

/// A server of WebSockets on loopback, and what a client in C reaches with it. Neither compresses.

/// Starts the server in a process of its own, which ends with this one. Returns its port; 0 when it could not start.
///
///     /flood/N    sends N text messages of 16 bytes, and closes
///     /sink/N     takes N messages, sends the text "done", and closes
///     /echo       sends back each frame
///     /idle       sends nothing
int websocket_start_server(void);

/// Receives messages from `/flood`, each into memory of its own. Returns their number, or -1.
long websocket_receive(int port, long count);

/// Sends text messages of 16 bytes to `/sink`, each with its own key and a system call. Returns 0, or -1.
int websocket_send(int port, long count);

/// Sends a binary message of a size to `/echo` while it receives the echo. Returns the number of received bytes, or -1.
long websocket_echo(int port, long size);

/// Opens WebSockets of libcurl (`CURLOPT_CONNECT_ONLY`) in a process of its own, which must have one thread until then.
/// Returns the memory of all of them in bytes, or -1.
long websocket_curl_memory(int port, int count);
