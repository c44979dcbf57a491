// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// The answer of a route of a stub transport.
///
/// ```swift
/// StubTransport(routes: [
///     .get("/products/:id"): .sequence(.status(503), .file(Fixture("tea.json", in: .module))),
///     .post("/orders"): .json(#"{"id":7}"#, status: 201).header(.eTag, "\"1\"").after(.seconds(2)),
///     .get("/orders/:id"): .answer { request, captures in .json(#"{"id":\#(captures["id"] ?? "")}"#) },
///     .any: .target,
/// ])
/// ```
public struct StubAnswer: Sendable {
    /// One answer of a sequence.
    struct Step: RouteStep {
        fileprivate let kind: Kind
        fileprivate var delay = Duration.zero
        fileprivate var headers = HTTPHeaders()
        /// The state of the stubs after this answer; `nil`: unchanged.
        fileprivate(set) var state: String?
    }

    fileprivate enum Kind: Sendable {
        case sample(SampleResponse)
        case file(Fixture, status: Int)
        case target(scenario: String?)
        case closure(@Sendable (RecordedRequest, [String: String]) async throws -> SampleResponse)
    }

    /// The answers, in order. The last one repeats.
    let steps: [Step]

    private init(_ kind: Kind) {
        steps = [Step(kind: kind)]
    }

    private init(steps: [Step]) {
        self.steps = steps
    }

    /// A response with JSON text as its body, and the content type `application/json`. The text is not checked.
    public static func json(_ text: String, status: Int = 200) -> Self {
        Self(.sample(.json(text, status: status)))
    }

    /// A response with a value as JSON, encoded with the default `JSONEncoder`, and the content type
    /// `application/json`. If the value cannot be encoded, the call fails.
    public static func json(_ value: some Encodable & Sendable, status: Int = 200) -> Self {
        .answer { _, _ in .json(String(decoding: try JSONEncoder().encode(value), as: UTF8.self), status: status) }
    }

    /// A response with bytes as its body.
    ///
    /// - Parameters:
    ///   - data: The body.
    ///   - status: The status code; default: 200.
    ///   - contentType: The media type; default `nil`: no `Content-Type` field.
    public static func data(_ data: Data, status: Int = 200, contentType: String? = nil) -> Self {
        let headers = contentType.map { HTTPHeaders(["Content-Type": $0]) } ?? [:]
        return Self(.sample(.response(status: status, headers: headers, data: data)))
    }

    /// A response without a body.
    public static func status(_ status: Int) -> Self {
        Self(.sample(.status(status)))
    }

    /// A response with the content of a file, and the content type of the file's extension. The file is read for each
    /// call. If it is not found, the call fails with an error that lists where it was searched for.
    public static func file(_ fixture: Fixture, status: Int = 200) -> Self {
        Self(.file(fixture, status: status))
    }

    /// A failure of the transport, for example `.failure(URLError(.notConnectedToInternet))`.
    public static func failure(_ error: any Error & Sendable) -> Self {
        Self(.sample(.failure(error)))
    }

    /// A sample response.
    public static func sample(_ sample: SampleResponse) -> Self {
        Self(.sample(sample))
    }

    /// The sample response of the call's own target: `TargetType.sampleResponse`.
    public static let target = Self(.target(scenario: nil))

    /// The sample response of the call's own target for a scenario: `TargetType.sampleResponse(in:)`; its ordinary one if
    /// it has none for the scenario.
    public static func scenario(_ name: String) -> Self {
        Self(.target(scenario: name))
    }

    /// One answer after the other, one for each call. The last one repeats.
    ///
    /// Concurrent calls never get the same answer of the sequence, except the last one. A modifier such as ``after(_:)``
    /// applies to each answer of the sequence.
    public static func sequence(_ answers: StubAnswer...) -> Self {
        Self(steps: answers.flatMap(\.steps))
    }

    /// The response that a closure returns, or the error that it throws. It is called on any thread.
    ///
    /// - Parameter respond: Receives the request, and the path segments that the pattern has captured, by name.
    public static func answer(
        _ respond: @escaping @Sendable (RecordedRequest, [String: String]) async throws -> SampleResponse
    ) -> Self {
        Self(.closure(respond))
    }

    /// Returns this answer with a delay, measured by the transport's clock. The request's timeout applies. Delays of
    /// several modifiers add up.
    public func after(_ delay: Duration) -> Self {
        with { $0.delay = LongestWait.limited($0.delay + LongestWait.limited(delay)) }
    }

    /// Returns this answer with a header field of the response, which replaces others with the same name. It has no
    /// effect on a failure.
    public func header(_ name: HTTPHeaderName, _ value: String) -> Self {
        with { $0.headers[name] = value }
    }

    /// Returns this answer with a change of state: when the request arrives, the routes of ``RequestPattern/when(_:)``
    /// with this state begin to match, and those with other states stop.
    public func then(_ state: String) -> Self {
        with { $0.state = state }
    }

    private func with(_ change: (inout Step) -> Void) -> Self {
        Self(
            steps: steps.map { step in
                var step = step
                change(&step)
                return step
            }
        )
    }
}

extension StubAnswer.Step {
    /// Returns the response to a request.
    func response(to request: RecordedRequest, _ captures: [String: String]) async throws -> SampleResponse {
        var sample = try await ownResponse(to: request, captures)
        if !headers.isEmpty { sample = sample.adding(headers) }
        return delay == .zero ? sample : .delayed(delay, sample)
    }

    private func ownResponse(to request: RecordedRequest, _ captures: [String: String]) async throws -> SampleResponse {
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
    /// The response with further header fields.
    fileprivate func adding(_ fields: HTTPHeaders) -> SampleResponse {
        switch self {
        case .response(let status, let headers, let data):
            .response(status: status, headers: headers.merging(fields), data: data)
        case .failure: self
        case .delayed(let delay, let sample): .delayed(delay, sample.adding(fields))
        }
    }
}
