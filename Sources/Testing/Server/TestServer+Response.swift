// SPDX-License-Identifier: MIT
import TargetKit

extension TestServer {
    /// The reaction of the server to a request, which is a response or one of many faults.
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
    /// After the last step, the connection stays open, unless the request or response has the field
    /// `Connection: close`.
    public struct Response: Sendable, ExpressibleByArrayLiteral {
        /// The steps for a request, and the state that they set.
        struct Element: RouteElement {
            var steps: [Step]
            var state: String?
        }

        /// The elements of the sequence, or the single element.
        private(set) var elements: [Element]

        /// Creates a response that consists of steps in order.
        package init(steps: [Step]) {
            elements = [Element(steps: steps)]
        }

        /// Creates a response that consists of steps in order.
        public init(arrayLiteral elements: Step...) {
            self.init(steps: elements)
        }

        /// Creates a response.
        ///
        /// `Content-Length` is added, unless the status has no body (1xx, 204, 304), or the fields contain it or
        /// `Transfer-Encoding`. The response isn't validated, so tests can send invalid ones.
        ///
        /// - Parameters:
        ///   - status: The status code; default: 200.
        ///   - reason: The reason phrase; default: the standard one.
        ///   - headers: The header fields; default: none.
        ///   - body: The body; default: empty.
        public init(status: Int = 200, reason: String? = nil, headers: HTTPHeaders = [:], body: Data = Data()) {
            var headers = headers
            let isFramed = headers[.contentLength] != nil || headers["Transfer-Encoding"] != nil
            let hasBody = status >= 200 && status != 204 && status != 304
            if hasBody && !isFramed { headers.add(.contentLength, value: String(body.count)) }
            var steps: [Step] = [.head(status: status, reason: reason, headers: headers)]
            if hasBody && !body.isEmpty { steps.append(.body(body)) }
            self.init(steps: steps)
        }

        /// A sequence of responses to successive requests. The last one is repeated.
        ///
        /// Requests are counted for each route, in order of arrival. A modifier such as ``after(_:)-(Duration)``
        /// applies to each response. An empty sequence is ``hang``.
        public static func sequence(_ responses: Response...) -> Response {
            var response = hang
            if !responses.isEmpty { response.elements = responses.flatMap(\.elements) }
            return response
        }

        /// Returns this response, which also sets the state of the server. Patterns with ``RequestPattern/when(_:)``
        /// match only in their state. A server starts without a state.
        public func then(_ state: String) -> Response {
            map { $0.state = state }
        }

        /// The response to a request.
        ///
        /// - Parameter index: The number of previous requests to the route.
        func element(at index: Int) -> Element {
            elements[min(index, elements.count - 1)]
        }

        /// Returns a copy in which each response of the sequence is changed.
        func map(_ change: (inout Element) -> Void) -> Response {
            var response = self
            for index in response.elements.indices { change(&response.elements[index]) }
            return response
        }
    }
}

// MARK: - Responses

extension TestServer.Response {
    /// A response with JSON text as its body. The text isn't validated.
    ///
    /// `Content-Type` is `application/json`, unless the fields contain it.
    public static func json(_ json: String, status: Int = 200, headers: HTTPHeaders = [:]) -> Self {
        content(Data(json.utf8), type: "application/json", status: status, headers: headers)
    }

    /// A response with a value as JSON.
    ///
    /// `Content-Type` is `application/json`, unless the fields contain it.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - status: The status code; default: 200.
    ///   - headers: The header fields; default: none.
    ///   - encoder: Encodes the value; default: `JSONEncoder()`.
    /// - Throws: The encoder's error if the value can't be encoded.
    public static func json(
        _ value: some Encodable & Sendable,
        status: Int = 200,
        headers: HTTPHeaders = [:],
        encoder: JSONEncoder = JSONEncoder()
    ) throws -> Self {
        content(try encoder.encode(value), type: "application/json", status: status, headers: headers)
    }

    /// A response with text in UTF-8 as its body.
    ///
    /// `Content-Type` is `text/plain; charset=utf-8`, unless the fields contain it.
    public static func text(_ text: String, status: Int = 200, headers: HTTPHeaders = [:]) -> Self {
        content(Data(text.utf8), type: "text/plain; charset=utf-8", status: status, headers: headers)
    }

    /// A response with bytes as its body, without `Content-Type` unless the fields contain it.
    public static func data(_ data: Data, status: Int = 200, headers: HTTPHeaders = [:]) -> Self {
        Self(status: status, headers: headers, body: data)
    }

    /// A response with an empty body.
    public static func status(_ status: Int, headers: HTTPHeaders = [:]) -> Self {
        Self(status: status, headers: headers)
    }

    /// A response with the content of a file, and the content type of the file's extension, unless the fields contain
    /// one.
    ///
    /// - Throws: An error that lists the searched locations if the file isn't found.
    public static func file(_ fixture: Fixture, status: Int = 200, headers: HTTPHeaders = [:]) throws -> Self {
        content(try fixture.data(), type: fixture.contentType, status: status, headers: headers)
    }

    /// A redirect to a location, which is sent unchanged and can be relative.
    public static func redirect(to location: String, status: Int = 302) -> Self {
        Self(status: status, headers: ["Location": location])
    }

    /// Sends text in UTF-8 instead of a response, and then closes the connection.
    package static func raw(_ text: String) -> Self { [.text(text), .close] }

    /// A response whose body is created as the kernel accepts it.
    package static func download(byteCount: Int64, repeating piece: Data, headers: HTTPHeaders = [:]) -> Self {
        var headers = headers
        headers.add(.contentLength, value: String(byteCount))
        return [.head(status: 200, headers: headers), .generate(byteCount: byteCount, repeating: piece)]
    }

    private static func content(_ data: Data, type: String, status: Int, headers: HTTPHeaders) -> Self {
        var headers = headers
        if headers[.contentType] == nil { headers.add(.contentType, value: type) }
        return Self(status: status, headers: headers, body: data)
    }

    /// Returns this response with a delay in real time.
    public func after(_ delay: Duration) -> Self {
        map { $0.steps.insert(.wait(for: delay), at: 0) }
    }

    /// Returns this response with a wait until a closure returns. The closure's task is cancelled when the connection
    /// ends.
    ///
    /// Use it to check conditions while the request is in progress, or to wait with a ``ManualClock``.
    public func after(_ condition: @escaping @Sendable () async -> Void) -> Self {
        map { $0.steps.insert(.wait(until: condition), at: 0) }
    }

    /// The steps of the first response.
    package var steps: [TestServer.Step] { element(at: 0).steps }
}
