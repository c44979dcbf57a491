// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import PublisherSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A transport whose calls wait until the test lets them go on, each by itself.
final class HeldTransport: Transport {
    /// A call that has been sent.
    struct Sent: Sendable {
        let request: TransportRequest
        let gate = Gate()
    }

    /// The calls that were sent, in their order.
    let sent = Recorder<Sent>()
    /// The calls that were cancelled while they waited.
    let cancelled = Expectation()
    private let answer: @Sendable (TransportRequest) throws -> SampleResponse

    init(
        answer: @escaping @Sendable (TransportRequest) throws -> SampleResponse = { _ in
            .response(status: 200, data: Data("{}".utf8))
        }
    ) {
        self.answer = answer
    }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let call = Sent(request: request)
        sent.append(call)
        do {
            try await call.gate.waitUnlessCancelled()
        } catch {
            cancelled.fulfill()
            throw error
        }
        return try await StubTransport(try answer(request)).send(request)
    }

    /// Lets the call of that number go on, when it has been sent.
    func release(_ index: Int) async {
        try? await sent.element(index).gate.open()
    }
}
