// SPDX-License-Identifier: MIT

/// The result of a stubbed call.
///
/// ```swift
/// var sampleResponse: SampleResponse {
///     switch self {
///     case .product: .json(#"{"id":7,"name":"Green tea"}"#)
///     case .order: .json(#"{"error":"sold out"}"#, status: 409)
///     case .search: .delayed(.seconds(1), .json("[]"))
///     case .remove: .status(204)
///     }
/// }
/// ```
public enum SampleResponse: Sendable {
    /// A response with a status, header fields and a body.
    case response(status: Int, headers: HTTPHeaders = [:], data: Data = Data())
    /// The failure of a transport, without a response.
    case failure(any Error & Sendable)
    /// Another result, after a delay measured by the clock of the provider or ``StubTransport``. The request's timeout
    /// applies.
    indirect case delayed(Duration, SampleResponse)

    /// A response with JSON text as its body, and the content type `application/json`. The text isn't validated.
    public static func json(_ text: String, status: Int = 200) -> SampleResponse {
        .response(status: status, headers: ["Content-Type": "application/json"], data: Data(text.utf8))
    }

    /// A response without a body.
    public static func status(_ status: Int) -> SampleResponse {
        .response(status: status, data: Data())
    }
}

extension SampleResponse {
    /// Whether the result has a delay.
    var isDelayed: Bool {
        if case .delayed = self { true } else { false }
    }

    /// The total delay, and the result after it.
    package var withDelay: (delay: Duration, result: SampleResponse) {
        var (delay, result) = (Duration.zero, self)
        while case .delayed(let more, let next) = result {
            (delay, result) = (LongestWait.limited(delay + LongestWait.limited(more)), next)
        }
        return (delay, result)
    }
}

extension SampleResponse: RedactedDescription {
    /// The status and size, or the failure.
    var redactedDescription: String {
        switch self {
        case .response(let status, _, let data): "HTTP \(status), \(data.count) bytes"
        case .failure(let error): "a failure: \(error.redactedLine)"
        case .delayed(let delay, let sample): "\(sample.redactedDescription), after \(delay)"
        }
    }
}

/// Whether a call is stubbed with a sample of its target, and with which sample.
///
/// A stub replaces only the transport. Closures, plugins, validation and decoding run as in a real call.
public enum StubBehavior: Sendable, Hashable {
    /// The call uses the provider's transport.
    case never
    /// The sample is returned without an additional delay.
    case immediate
    /// The sample is returned after a delay measured by the provider's clock.
    case delayed(Duration)
    /// The target's sample for a scenario, `TargetType.sampleResponse(in:)`, is returned. A target without a sample for
    /// the scenario returns its ordinary sample.
    case scenario(String)
}
