// SPDX-License-Identifier: MIT

/// What becomes of a call whose body is to be streamed.
enum URLSessionStreaming: Sendable {
    /// An error: nothing can keep a slow reader's body from piling up in memory.
    case refused
    /// It is streamed, and what the reader has not taken piles up: for tests, where `suspend()` does not do what it says.
    case unbounded
    /// It is streamed, and its task suspended while the reader has enough to read.
    case paced

    /// On Linux `suspend()` and `resume()` send the request again (Swift 6.3.1). `FoundationTrapTests` watches it.
    static var system: Self {
        #if canImport(FoundationNetworking)
        .refused
        #else
        .paced
        #endif
    }
}
