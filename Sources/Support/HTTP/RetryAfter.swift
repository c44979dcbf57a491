// SPDX-License-Identifier: MIT

/// The responses that ask for a retry (RFC 9110 §10.2.3).
package enum RetryAfter {
    /// The statuses that can be temporary.
    package static let statuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504]
}
