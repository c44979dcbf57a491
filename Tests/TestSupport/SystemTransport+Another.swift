// SPDX-License-Identifier: MIT
import TargetKit

extension SystemTransport {
    /// A transport of the system's type with connections of its own.
    package static func another() -> any Transport {
        #if os(Linux)
        CurlTransport()
        #else
        URLSessionTransport()
        #endif
    }
}
