// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// Transports whose own timeouts do not fire, however busy the machine is. A test of a timeout sets one.

extension SystemTransport {
    /// The one that tests share.
    package static let patient: any Transport = another()

    /// A transport of the system's type with connections of its own.
    package static func another() -> any Transport {
        #if os(Linux)
        CurlTransport.another()
        #else
        URLSessionTransport.another()
        #endif
    }
}

extension URLSessionTransport {
    /// The one that tests share.
    package static let patient = another()

    /// A transport with connections of its own.
    package static func another() -> URLSessionTransport {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 600
        return URLSessionTransport(configuration: configuration)
    }
}

#if os(Linux)
extension CurlTransport {
    /// The one that tests share.
    package static let patient = another()

    /// A transport with connections of its own.
    package static func another() -> CurlTransport {
        CurlTransport(connectTimeout: .seconds(600), idleTimeout: .seconds(600))
    }
}
#endif
