// SPDX-License-Identifier: MIT
#if canImport(FoundationNetworking)
import Foundation
import FoundationNetworking
import TargetKitTesting
import Testing

/// A session as Foundation makes it, and all that its delegate hears: what the tests of Foundation's traps look at.
final class TrapSession: NSObject, Sendable {
    /// Some traps show only in time, or by ending a process: they are looked at by themselves, on a machine that does
    /// nothing else.
    static let isAsked = ProcessInfo.processInfo.environment["TARGETKIT_TRAPS"] == "1"
    static let skipReason: Comment = "skipped: TARGETKIT_TRAPS is not 1"

    enum Event: Sendable {
        case response(Int)
        case data(Data)
        case redirect(to: URL?)
        case challenge
        case bodyWanted
        case completed((any Error)?)
    }

    /// How the delegate answers.
    struct Answers: Sendable {
        var followsRedirects = true
        var challenge = URLSession.AuthChallengeDisposition.performDefaultHandling
        var body: Data?
    }

    let events = Recorder<Event>()
    private let ended = Tally()
    private let answers: Answers

    init(_ answers: Answers = Answers()) {
        self.answers = answers
    }

    /// A session with this delegate, and with the settings of the package's own transport unless they are changed.
    func session(_ change: (URLSessionConfiguration) -> Void = { _ in }) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.urlCredentialStorage = nil
        change(configuration)
        return URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
    }

    /// Sends the request, and waits until so many tasks have ended in all.
    func run(_ request: URLRequest, in session: URLSession, ended count: Int = 1) async throws {
        session.dataTask(with: request).resume()
        try await waitForEnd(count)
    }

    func waitForEnd(_ count: Int = 1) async throws {
        try await ended.wait(for: count)
    }

    var endedCount: Int { ended.value }

    /// The status of each response.
    var statuses: [Int] {
        events.elements.compactMap { if case .response(let status) = $0 { status } else { nil } }
    }

    /// The bytes of all bodies.
    var body: Data {
        events.elements.reduce(into: Data()) { if case .data(let data) = $1 { $0 += data } }
    }

    /// What the last task ended with.
    var error: URLError? {
        events.elements.compactMap { if case .completed(let error) = $0 { error as? URLError } else { nil } }.last
    }
}

extension TrapSession: URLSessionDataDelegate {
    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        events.append(.response((response as? HTTPURLResponse)?.statusCode ?? 0))
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        events.append(.data(data))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        events.append(.completed(error))
        ended.add()
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        events.append(.redirect(to: request.url))
        completionHandler(answers.followsRedirects ? request : nil)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        events.append(.challenge)
        completionHandler(answers.challenge, nil)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        events.append(.bodyWanted)
        completionHandler(answers.body.map { InputStream(data: $0) })
    }
}
#endif
