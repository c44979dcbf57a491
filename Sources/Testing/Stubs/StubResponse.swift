// SPDX-License-Identifier: MIT
import TargetKit

/// A response of a route of a stub transport.
///
/// ```swift
/// StubTransport(routes: [
///     .get("/products/:id"): .sequence(.status(503), .file(Fixture("tea.json", in: .module))),
///     .post("/orders"): .json(#"{"id":7}"#, status: 201, headers: ["ETag": "\"1\""]).after(.seconds(2)),
///     .get("/orders/:id"): .respond { request, captures in .json(#"{"id":\#(captures["id"] ?? "")}"#) },
///     .any: .targetSample,
/// ])
/// ```
///
/// The responses of a ``TestServer`` have the same names and parameters.
public struct StubResponse: Sendable {
    /// One response of a sequence.
    struct Element: RouteElement {
        fileprivate let kind: Kind
        fileprivate var delay = Duration.zero
        fileprivate var headers = HTTPHeaders()
        /// The state of the stubs after this response; `nil` if it is unchanged.
        fileprivate(set) var state: String?
    }

    fileprivate enum Kind: Sendable {
        case sample(SampleResponse)
        case file(Fixture, status: Int)
        case target(scenario: String?)
        case closure(@Sendable (RecordedRequest, [String: String]) async throws -> SampleResponse)
    }

    /// The responses, in order. The last one repeats.
    let elements: [Element]

    private init(_ kind: Kind, headers: HTTPHeaders = [:]) {
        elements = [Element(kind: kind, headers: headers)]
    }

    private init(elements: [Element]) {
        self.elements = elements
    }

    /// A response with JSON text as its body. The text isn't validated.
    ///
    /// `Content-Type` is `application/json`, unless the fields contain it.
    public static func json(_ json: String, status: Int = 200, headers: HTTPHeaders = [:]) -> Self {
        Self(.sample(.json(json, status: status)), headers: headers)
    }

    /// A response with a value as JSON. If the value can't be encoded, the call fails.
    ///
    /// `Content-Type` is `application/json`, unless the fields contain it.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - status: The status code; default: 200.
    ///   - headers: The header fields; default: none.
    ///   - encoder: Encodes the value; default: `JSONEncoder()`.
    public static func json(
        _ value: some Encodable & Sendable,
        status: Int = 200,
        headers: HTTPHeaders = [:],
        encoder: JSONEncoder = JSONEncoder()
    ) -> Self {
        let respond = { @Sendable (_: RecordedRequest, _: [String: String]) in
            SampleResponse.json(String(decoding: try encoder.encode(value), as: UTF8.self), status: status)
        }
        return Self(.closure(respond), headers: headers)
    }

    /// A response with text in UTF-8 as its body.
    ///
    /// `Content-Type` is `text/plain; charset=utf-8`, unless the fields contain it.
    public static func text(_ text: String, status: Int = 200, headers: HTTPHeaders = [:]) -> Self {
        let type: HTTPHeaders = ["Content-Type": "text/plain; charset=utf-8"]
        return Self(.sample(.response(status: status, headers: type, data: Data(text.utf8))), headers: headers)
    }

    /// A response with bytes as its body, without `Content-Type` unless the fields contain it.
    public static func data(_ data: Data, status: Int = 200, headers: HTTPHeaders = [:]) -> Self {
        Self(.sample(.response(status: status, data: data)), headers: headers)
    }

    /// A response without a body.
    public static func status(_ status: Int, headers: HTTPHeaders = [:]) -> Self {
        Self(.sample(.status(status)), headers: headers)
    }

    /// A response with the content of a file, and the content type of the file's extension, unless the fields contain
    /// one. The file is read for each call. If it isn't found, the call fails with an error that lists the searched
    /// locations.
    public static func file(_ fixture: Fixture, status: Int = 200, headers: HTTPHeaders = [:]) -> Self {
        Self(.file(fixture, status: status), headers: headers)
    }

    /// A failure of the transport, for example `.failure(URLError(.notConnectedToInternet))`.
    public static func failure(_ error: any Error & Sendable) -> Self {
        Self(.sample(.failure(error)))
    }

    /// A sample response.
    public static func sample(_ sample: SampleResponse) -> Self {
        Self(.sample(sample))
    }

    /// The sample response of the call's target (`TargetType.sampleResponse`).
    ///
    /// A transport doesn't know the call's endpoint, so the sample of an `endpointClosure` isn't used.
    /// `stubClosure: { _ in .immediate }` uses it.
    public static let targetSample = Self(.target(scenario: nil))

    /// The sample response of the call's target for a scenario (`TargetType.sampleResponse(in:)`), or its ordinary
    /// sample if it has none for the scenario.
    public static func scenario(_ name: String) -> Self {
        Self(.target(scenario: name))
    }

    /// A sequence of responses, one for each call. The last one is repeated.
    ///
    /// Concurrent calls never receive the same response of the sequence, except the last one. A modifier such as
    /// ``after(_:)`` applies to each response of the sequence.
    public static func sequence(_ responses: StubResponse...) -> Self {
        Self(elements: responses.flatMap(\.elements))
    }

    /// The response that a closure returns, or the error that it throws. The closure is called on any thread.
    ///
    /// - Parameter respond: Receives the request and the captured path segments by name.
    public static func respond(
        _ respond: @escaping @Sendable (RecordedRequest, [String: String]) async throws -> SampleResponse
    ) -> Self {
        Self(.closure(respond))
    }

    /// Returns this response with a delay, measured by the transport's clock. The request's timeout applies. Delays of
    /// several modifiers add up.
    public func after(_ delay: Duration) -> Self {
        with { $0.delay = LongestWait.limited($0.delay + LongestWait.limited(delay)) }
    }

    /// Returns this response with a header field, which replaces fields with the same name. Has no effect on a failure.
    public func header(_ name: HTTPHeaderName, _ value: String) -> Self {
        with { $0.headers[name] = value }
    }

    /// Returns this response with a state, which the stubs enter when the request arrives. Routes of
    /// ``RequestPattern/when(_:)`` match only in their state.
    public func then(_ state: String) -> Self {
        with { $0.state = state }
    }

    private func with(_ change: (inout Element) -> Void) -> Self {
        Self(
            elements: elements.map { element in
                var element = element
                change(&element)
                return element
            }
        )
    }
}

extension StubResponse.Element {
    /// Returns the response to a request.
    func response(to request: RecordedRequest, captures: [String: String]) async throws -> SampleResponse {
        var sample = try await ownResponse(to: request, captures: captures)
        if headers != [:] { sample = sample.adding(headers) }
        return delay == .zero ? sample : .delayed(delay, sample)
    }

    private func ownResponse(to request: RecordedRequest, captures: [String: String]) async throws -> SampleResponse {
        switch kind {
        case .sample(let sample): return sample
        case .closure(let respond): return try await respond(request, captures)
        case .file(let fixture, let status):
            let headers: HTTPHeaders = ["Content-Type": fixture.contentType]
            return .response(status: status, headers: headers, data: try fixture.data())
        case .target(let scenario):
            guard let target = request.target else {
                throw StubError("The request has no target, so there is no sample response: \(request.summary)")
            }
            return scenario.flatMap { target.sampleResponse(in: $0) } ?? target.sampleResponse
        }
    }
}

extension SampleResponse {
    /// The response with additional header fields.
    fileprivate func adding(_ fields: HTTPHeaders) -> SampleResponse {
        switch self {
        case .response(let status, let headers, let data):
            .response(status: status, headers: headers.merging(fields), data: data)
        case .failure: self
        case .delayed(let delay, let sample): .delayed(delay, sample.adding(fields))
        }
    }
}
