// SPDX-License-Identifier: MIT
import TargetKit

extension TestServer {
    /// The address of a server. Other machines can't connect to it.
    public enum Address: Sendable, Hashable {
        /// A free port of 127.0.0.1.
        case ipv4
        /// A free port of ::1.
        case ipv6
        /// A Unix domain socket. The path must not exist, and can have up to 103 bytes. The file is removed when the
        /// server stops.
        case unix(path: String)
    }

    /// The behavior of a server apart from its responses. The closures are called on the server's thread, and must not
    /// block.
    package struct Options: Sendable {
        /// The action when the head of a request arrives.
        package enum HeadDecision: Sendable {
            /// Reads the body.
            case readBody
            /// Responds immediately. The body is discarded, and the request is recorded without it.
            case response(Response)
        }

        /// The handling of `Expect: 100-continue` (RFC 9110 §10.1.1).
        package enum ExpectContinue: Sendable, Hashable {
            /// Sends `100 Continue` when the head arrives.
            case send
            /// Waits for the body.
            case ignore
        }

        /// The address of the server.
        package var address = Address.ipv4
        /// Whether bodies are stored, rather than only their size and digest.
        package var storesBodies = true
        /// Whether requests are stored, rather than only counted.
        package var recordsRequests = true
        /// The handling of `Expect: 100-continue`.
        package var expectContinue = ExpectContinue.send
        /// Whether a client that closes its half of the connection still receives a response. Default: no.
        package var toleratesHalfClose = false
        /// The size of each connection's send and receive buffers in bytes, which Linux doubles; `nil` for the system's
        /// sizes, which can be tens of megabytes.
        package var bufferSize: Int?
        /// Returns the steps to run on a new connection, before anything is read.
        package var onConnect: (@Sendable (_ connection: Int) -> [Step])?
        /// Decides whether to respond before the body arrives.
        package var onHead: (@Sendable (_ request: Request) -> HeadDecision)?

        package init(address: Address = .ipv4) {
            self.address = address
        }
    }
}
