// SPDX-License-Identifier: MIT
#pragma once

/// Two servers that need no thought, on a port of the system's choice on loopback. They serve as long as the process runs.

/// A server that takes request bodies of any size, and answers each with an empty 200.
/// Returns its port; 0 when it could not start.
int loopback_start_sink(void);

/// A server that takes connections and never answers. Returns its port; 0 when it could not start.
int loopback_start_silence(void);
