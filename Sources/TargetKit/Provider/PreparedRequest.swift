// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request that is ready to be sent, and what it was made from: a repetition begins there.
struct PreparedRequest: Sendable {
    /// What the request closure has made.
    let original: URLRequest
    /// What the plugins have made of it.
    var final: OutgoingRequest
}
