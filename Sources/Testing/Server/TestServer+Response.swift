// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

extension TestServer {
    /// What the server does in response to a request: sends a response, or one of many faults.
    ///
    /// ```swift
    /// let server = try TestServer(routes: [
    ///     .get("/products"): .json("[]").after(.milliseconds(50)),
    ///     .post("/orders"): .sequence(.status(503), .reset, .json(#"{"id":7}"#, status: 201)),
    ///     .get("/image"): .text("not all of this").truncated(after: 5),
    ///     .get("/early"): [.text("HTTP/1.1 103 Early Hints\r\n\r\n"), .head(status: 204)],
    /// ])
    /// ```
    ///
    /// After the last step, the connection stays open, unless the request or the response has the field
    /// `Connection: close`.
    public struct Reply: Sendable, ExpressibleByArrayLiteral {
        /// The steps for a request, and the state that they set.
        struct Response: RouteStep {
            var steps: [Step]
            var state: String?
        }

        /// The responses of the sequence, or the only one.
        private(set) var responses: [Response]

        /// Creates a reply that consists of the steps, in their order.
        package init(steps: [Step]) {
            responses = [Response(steps: steps)]
        }

        /// Creates a reply that consists of the steps, in their order.
        public init(arrayLiteral elements: Step...) {
            self.init(steps: elements)
        }

        /// Creates a response.
        ///
        /// `Content-Length` is added, except to a status without a body (1xx, 204, 304), and if the fields contain it or
        /// `Transfer-Encoding`. Nothing is checked, so that a response can be invalid.
        ///
        /// - Parameters:
        ///   - status: The status code; default: 200.
        ///   - reason: The reason phrase; default: the standard one.
        ///   - headers: The header fields; default: none.
        ///   - body: The body; default: empty.
        public init(status: Int = 200, reason: String? = nil, headers: HTTPHeaders = [:], body: Data = Data()) {
            var headers = headers
            let isFramed = headers[.contentLength] != nil || headers[.transferEncoding] != nil
            let hasBody = status >= 200 && status != 204 && status != 304
            if hasBody && !isFramed { headers.add(.contentLength, value: String(body.count)) }
            var steps: [Step] = [.head(status: status, reason: reason, headers: headers)]
            if hasBody && !body.isEmpty { steps.append(.body(body)) }
            self.init(steps: steps)
        }

        /// Replies one after another: the first to the first request, and so on. The last one is repeated.
        ///
        /// Requests are counted for each route, in the order of their arrival. A modifier such as ``after(_:)-(Duration)``
        /// applies to each reply. Without replies, it is ``hang``.
        public static func sequence(_ replies: Reply...) -> Reply {
            var reply = hang
            if !replies.isEmpty { reply.responses = replies.flatMap(\.responses) }
            return reply
        }

        /// Returns this reply, which also sets the state of the server. Patterns with ``RequestPattern/when(_:)`` match in
        /// their state only. A server begins without a state.
        public func then(_ state: String) -> Reply {
            map { $0.state = state }
        }

        /// The response to a request.
        ///
        /// - Parameter index: The number of requests to the route before this one.
        func response(at index: Int) -> Response {
            responses[min(index, responses.count - 1)]
        }

        /// The reply with each response of its sequence changed.
        func map(_ change: (inout Response) -> Void) -> Reply {
            var reply = self
            for index in reply.responses.indices { change(&reply.responses[index]) }
            return reply
        }
    }
}

// MARK: - Responses

extension TestServer.Reply {
    /// A response with a text as its body, as UTF-8.
    ///
    /// `Content-Type` is `text/plain; charset=utf-8`, unless the fields contain it.
    public static func text(_ text: String, status: Int = 200, headers: HTTPHeaders = [:]) -> Self {
        content(text, type: "text/plain; charset=utf-8", status: status, headers: headers)
    }

    /// A response with a JSON text as its body. The text is not checked.
    ///
    /// `Content-Type` is `application/json`, unless the fields contain it.
    public static func json(_ json: String, status: Int = 200, headers: HTTPHeaders = [:]) -> Self {
        content(json, type: "application/json", status: status, headers: headers)
    }

    /// A response with an empty body.
    public static func status(_ status: Int, headers: HTTPHeaders = [:]) -> Self {
        Self(status: status, headers: headers)
    }

    /// A response with the content of a file, and the content type of the file's extension.
    ///
    /// - Throws: An error that lists where the file was searched for if it is not found.
    public static func file(_ fixture: Fixture, status: Int = 200) throws -> Self {
        Self(status: status, headers: ["Content-Type": fixture.contentType], body: try fixture.data())
    }

    /// A redirect to a location, which is sent unchanged and can be relative.
    public static func redirect(to location: String, status: Int = 302) -> Self {
        Self(status: status, headers: ["Location": location])
    }

    /// Sends a text as UTF-8 instead of a response, then closes the connection.
    package static func raw(_ text: String) -> Self { [.text(text), .close] }

    /// A response whose body is created as the kernel accepts it.
    package static func download(byteCount: Int64, repeating piece: Data, headers: HTTPHeaders = [:]) -> Self {
        var headers = headers
        headers.add(.contentLength, value: String(byteCount))
        return [.head(status: 200, headers: headers), .generate(byteCount: byteCount, repeating: piece)]
    }

    private static func content(_ text: String, type: String, status: Int, headers: HTTPHeaders) -> Self {
        var headers = headers
        if headers[.contentType] == nil { headers.add(.contentType, value: type) }
        return Self(status: status, headers: headers, body: Data(text.utf8))
    }

    /// Returns this reply after a delay, in real time.
    public func after(_ delay: Duration) -> Self {
        map { $0.steps.insert(.wait(for: delay), at: 0) }
    }

    /// Returns this reply, which waits until a closure returns. Its task is cancelled when the connection ends.
    ///
    /// With it, a test can check something while the request is in progress, or use a ``ManualClock``.
    public func after(_ condition: @escaping @Sendable () async -> Void) -> Self {
        map { $0.steps.insert(.wait(until: condition), at: 0) }
    }

    /// The steps of the first response.
    package var steps: [TestServer.Step] { response(at: 0).steps }
}
