// SPDX-License-Identifier: MIT

import Foundation
import TargetKit

extension TestServer {
    /// What the server does in answer to a request: a list of steps, or a whole response made with one of the short forms.
    ///
    /// After the last step the connection is kept alive, unless the client asked for its end or a head said `Connection:
    /// close`.
    public struct Reply: Sendable, ExpressibleByArrayLiteral {
        /// The steps in order.
        public var steps: [TestServer.Step]

        /// An answer that runs those steps and nothing else.
        public init(steps: [TestServer.Step]) {
            self.steps = steps
        }

        /// An answer that runs those steps and nothing else.
        public init(arrayLiteral elements: TestServer.Step...) {
            steps = elements
        }

        /// A whole response. `Content-Length` is added unless the headers frame the body themselves or the status has none.
        public init(status: Int = 200, reason: String? = nil, headers: HTTPHeaders = [:], body: Data = Data()) {
            var headers = headers
            let isFramed = headers["content-length"] != nil || headers["transfer-encoding"] != nil
            let hasBody = status >= 200 && status != 204 && status != 304
            if hasBody && !isFramed { headers.add("Content-Length", value: String(body.count)) }
            steps = [.head(status: status, reason: reason, headers: headers)]
            if hasBody && !body.isEmpty { steps.append(.body(body)) }
        }

        /// A response with a text body in UTF-8.
        public static func text(_ text: String, status: Int = 200, headers: HTTPHeaders = [:]) -> TestServer.Reply {
            content(text, type: "text/plain; charset=utf-8", status: status, headers: headers)
        }

        /// A response with that JSON text as its body.
        public static func json(_ json: String, status: Int = 200, headers: HTTPHeaders = [:]) -> TestServer.Reply {
            content(json, type: "application/json", status: status, headers: headers)
        }

        /// A response with that status and an empty body.
        public static func status(_ status: Int, headers: HTTPHeaders = [:]) -> TestServer.Reply {
            TestServer.Reply(status: status, headers: headers)
        }

        /// A redirect to that place, which is sent as it is, a relative one too.
        public static func redirect(to location: String, status: Int = 302) -> TestServer.Reply {
            TestServer.Reply(status: status, headers: ["Location": location])
        }

        /// Those bytes in the place of a response, then the end of the connection.
        public static func raw(_ text: String) -> TestServer.Reply { [.text(text), .close] }

        /// A response of so many bytes that are made as the kernel takes them.
        public static func download(
            byteCount: Int64,
            repeating piece: Data,
            headers: HTTPHeaders = [:]
        ) -> TestServer.Reply {
            var headers = headers
            headers.add("Content-Length", value: String(byteCount))
            return [.head(status: 200, headers: headers), .generate(byteCount: byteCount, repeating: piece)]
        }

        /// No answer: the connection is closed.
        public static var close: TestServer.Reply { [.close] }

        /// No answer: the connection is reset.
        public static var reset: TestServer.Reply { [.reset] }

        /// No answer, until the client goes or the server stops.
        public static var hang: TestServer.Reply { [.hang] }

        private static func content(
            _ text: String,
            type: String,
            status: Int,
            headers: HTTPHeaders
        ) -> TestServer.Reply {
            var headers = headers
            if headers["content-type"] == nil { headers.add("Content-Type", value: type) }
            return TestServer.Reply(status: status, headers: headers, body: Data(text.utf8))
        }
    }
}
