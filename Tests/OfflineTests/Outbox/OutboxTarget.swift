// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitOffline
import TargetKitTesting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The target of a test's outbox.
struct Note: TargetType, Codable, Hashable {
    var number: Int
    var group: String?
    var policy = OutboxPolicy.ifUnanswered
    var key: String?
    var text = ""
    var baseURL = URL.shop

    init(_ number: Int, group: String? = nil, policy: OutboxPolicy = .ifUnanswered) {
        self.number = number
        self.group = group
        self.policy = policy
    }

    var path: RequestPath { "/notes/\(number)" }
    var method: HTTPMethod { .post }
    var validation: StatusValidation { .successCodes }

    var options: CallOptions {
        .setting(\.outboxGroup, group).setting(\.outboxPolicy, policy).setting(\.idempotencyKey, key)
    }

    func with(_ change: (inout Note) -> Void) -> Note {
        var note = self
        change(&note)
        return note
    }
}

/// A server of notes without a network, whose answers the test sets.
final class NoteServer: Transport {
    enum Answer: Sendable {
        case status(Int, HTTPHeaders = [:])
        case failure(URLError.Code)
        /// Waits until the call is cancelled.
        case hang
    }

    /// The number of the note, the key and the user of each request.
    struct Sent: Sendable, Hashable {
        var number: Int
        var key: String?
        var user: String?
    }

    let sent = Recorder<Sent>()
    private let answers = Locked<[Int: [Answer]]>([:])
    private let standard = Locked(Answer.status(200))

    init(_ standard: Answer = .status(200)) {
        answer(standard)
    }

    /// Sets the response to all requests.
    func answer(_ answer: Answer) {
        standard.withLock { $0 = answer }
    }

    /// Sets the next answers to the requests of one note.
    func answer(_ number: Int, _ answers: Answer...) {
        self.answers.withLock { $0[number, default: []] += answers }
    }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let number = Int(request.urlRequest.url?.lastPathComponent ?? "") ?? 0
        let answer =
            answers.withLock { answers -> Answer? in
                guard answers[number]?.isEmpty == false else { return nil }
                return answers[number]?.removeFirst()
            } ?? standard.withLock(\.self)
        sent.append(
            Sent(
                number: number,
                key: request.urlRequest.value(forHTTPHeaderField: "Idempotency-Key"),
                user: request.urlRequest.value(forHTTPHeaderField: "Authorization")
            )
        )
        switch answer {
        case .status(let status, let headers):
            let head = ResponseHead(statusCode: status, headers: headers)
            return TransportResponse(head: head, body: .data(Data("\(number)".utf8)))
        case .failure(let code): throw URLError(code)
        case .hang:
            try await Task.sleep(for: .seconds(600))
            throw URLError(.timedOut)
        }
    }

    /// The numbers of the notes that were sent.
    var numbers: [Int] { sent.elements.map(\.number) }
}

extension OfflineOutbox where Target == Note {
    /// The numbers and states of the entries.
    var shown: [String] { entries.map { "\($0.target.number) \($0.state.name)" } }

    /// Waits for entries with these numbers and states.
    ///
    /// - Parameter clock: Moved until then, so that delays end.
    func shows(_ expected: [String], moving clock: ManualClock? = nil) async throws {
        while shown != expected {
            try Task.checkCancellation()
            clock?.advance(by: .seconds(1))
            await Task.yield()
        }
    }
}

extension OfflineOutbox {
    /// Lets every delay pass, and gives the outbox the time to send.
    func passDelays(of clock: ManualClock) async throws {
        for _ in 1...5 {
            try Task.checkCancellation()
            sendNow()
            for _ in 1...20 {
                clock.advance(by: .seconds(30))
                await Task.yield()
            }
        }
    }
}

extension OutboxEntry.State {
    var name: String {
        switch self {
        case .waiting: "waiting"
        case .sending: "sending"
        case .needsSignIn: "needsSignIn"
        case .sent(let response): "sent \(response.statusCode)"
        case .failed: "failed"
        case .expired: "expired"
        case .removed: "removed"
        }
    }
}

extension OutboxResult {
    var id: UUID? { if case .kept(let id) = self { id } else { nil } }
    var statusCode: Int? { if case .sent(let response) = self { response.statusCode } else { nil } }
}
