// SPDX-License-Identifier: MIT
#pragma once

/// Two minimal servers, on a port of the system's choice on loopback. They serve as long as the process runs.

/// A server that takes request bodies of any size, and answers each request with a 200 of a few bytes, `GET /1000` with 1,000
/// zeros. Returns its port; 0 when it could not start.
int loopback_start_server(void);

/// A server that takes connections and never answers. Returns its port; 0 when it could not start.
int loopback_start_silence(void);
