// SPDX-License-Identifier: MIT
import TargetKit

/// A transport that records calls in a folder, and replays them, or those of an HTTP Archive, without a network.
///
/// ```swift
/// let cassette = CassetteTransport(.auto, folder: folder)
/// let provider = Provider<Catalog>(transport: cassette)
/// ```
///
/// For each call, the folder contains a readable JSON document, for example `001-GET-products.json`, and its decoded
/// bodies. Secrets in requests and responses are redacted by the rules of `Redaction`; the caller of a recorded call
/// receives the original response. Redacted values compare as equal. A cookie keeps its name and attributes, and a URL
/// loses its user and password, so that both work when replayed.
///
/// Documents are numbered in the order of the requests. Identical requests use them in this order, each once. A request
/// without an entry fails, and its error describes the closest entry and the differences. A cancelled call, or a stream
/// that isn't read to its end, records nothing and uses no entry. To record a call again, delete its document, or use
/// ``rerecord(_:)``.
///
/// Entries are replaced atomically. A process that replays an entry concurrently, or after the recording process was
/// killed, receives either the old or the new response.
///
/// Bodies are read into memory. Durations aren't recorded; to simulate them, combine the transport with
/// ``NetworkConditions``.
public struct CassetteTransport: Transport {
    /// The source of responses.
    public enum Mode: Sendable, Hashable {
        /// Responses come from the folder, whose files aren't changed. Calls without an entry fail.
        case replay
        /// All calls are sent. They replace matching entries in order, or are added if none matches. Network failures
        /// with a `URLError` are also recorded.
        case record
        /// Responses come from the folder. Calls without an entry are sent, and are added unless they fail.
        case auto
    }

    private let mode: Mode
    private let recorded: any Transport
    private let redaction: Redaction
    private let repeats: Bool
    private let cassette: Cassette

    /// Creates a transport for a folder, which is read at the first call.
    ///
    /// - Parameters:
    ///   - mode: The source of responses.
    ///   - folder: The folder. It is created when a call is recorded.
    ///   - transport: Sends the calls to record; default: the system's transport.
    ///   - parts: The parts of a request that must match the recorded ones; default: method, URL, query and body.
    ///   - names: The query items, header fields, and fields of forms and JSON bodies that aren't compared, at any depth,
    ///     for example `["timestamp", "sign"]`; default: none. Letter case, `-` and `_` are ignored.
    ///   - redaction: The secrets to redact; default: `Redaction()`. In a replayed response, redacted JSON values are
    ///     the string `<redacted>`, regardless of their type. Use `Redaction.visibleFields` for fields that aren't
    ///     secret.
    ///   - repeats: Whether further requests receive the last entry, for previews and UI tests; default: no, they fail.
    public init(
        _ mode: Mode,
        folder: URL,
        recording transport: any Transport = SystemTransport.shared,
        matching parts: [RequestPart] = [.method, .url, .query, .body],
        ignoring names: Set<String> = [],
        redaction: Redaction = Redaction(),
        repeats: Bool = false
    ) {
        self.mode = mode
        recorded = transport
        self.redaction = redaction
        self.repeats = repeats
        cassette = Cassette(folder, matching: parts, ignoring: names)
    }

    /// Creates a transport that replays an HTTP Archive (HAR 1.2) of a browser, a proxy or a `HARFile`. The archive is
    /// read at the first call, and never changed.
    ///
    /// Identical requests use their entries in the order of `startedDateTime`. A browser's additional header fields,
    /// HTTP/2's pseudo-header fields and the fragment of a URL aren't compared, and neither is a request body that the
    /// archive doesn't contain. Entries without a response, whose status is 0, aren't used. Bodies are replayed as they
    /// are in the archive: decoded, and text in UTF-8. A call whose response body is missing or truncated in the archive
    /// fails, except a redirect. A 304 with the body of a browser's cache is a 200. An entry with a malformed field fails
    /// only calls that match it; one without a method or a URL is named by the error of each call without an entry.
    ///
    /// An archive contains secrets in plain text. ``convert(har:to:redaction:including:)`` makes a cassette without them.
    ///
    /// - Parameters:
    ///   - file: The archive.
    ///   - parts: The parts of a request that must match the recorded ones; default: method, URL, query and body.
    ///   - names: The query items, header fields, and fields of forms and JSON bodies that aren't compared; default: none.
    ///   - redaction: The secrets, which compare as equal; default: `Redaction()`.
    ///   - repeats: Whether further requests receive the last entry; default: no, they fail.
    public init(
        har file: URL,
        matching parts: [RequestPart] = [.method, .url, .query, .body],
        ignoring names: Set<String> = [],
        redaction: Redaction = Redaction(),
        repeats: Bool = false
    ) {
        mode = .replay
        recorded = SystemTransport.shared
        self.redaction = redaction
        self.repeats = repeats
        cassette = Cassette(HARSource(url: file, redaction: redaction), matching: parts, ignoring: names)
    }

    /// Creates a transport whose calls fail.
    init(failing reason: CassetteError) {
        mode = .replay
        recorded = SystemTransport.shared
        redaction = Redaction()
        repeats = false
        cassette = Cassette(UnavailableCassette(reason: reason), matching: [])
    }

    /// The entries, in order.
    ///
    /// - Throws: An error that describes a file that can't be read.
    public var entries: [CassetteEntry] {
        get throws { try cassette.entries }
    }

    /// The entries that no call of this transport used, in order.
    ///
    /// - Throws: An error that describes a file that can't be read.
    public var unusedEntries: [CassetteEntry] {
        get throws { try cassette.unusedEntries }
    }

    /// The method and URL of each request that had no entry, in order, with secrets redacted.
    public var missingRequests: [String] { cassette.missingRequests }

    /// Records an entry of a folder again. In every mode, the next matching call is sent and replaces the entry. A failed
    /// call replaces it only in the mode `.record`.
    public func rerecord(_ entry: CassetteEntry) {
        cassette.rerecord(entry)
    }

    /// Returns a response from the folder, or sends and records it, depending on the mode.
    ///
    /// - Throws: The recorded failure, the transport's failure, or an error that describes a missing entry, or a file
    ///   that can't be read or written.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        try Task.checkCancellation()
        let turn = cassette.turns.begin()
        let redaction = redaction.adding(request.secretHeaders)
        let (sent, claim) = try await withFiles { [mode, repeats, cassette] in
            let sent = try RecordedRequest(request)
            let redacted = RedactedRequest(recording: sent, by: redaction)
            let claim = try cassette.claim(redacted, repeats: repeats && mode != .record)
            if claim == nil, mode == .replay { throw try cassette.missing(redacted) }
            return ((body: sent.body, redacted: redacted), claim)
        }
        if claim != nil { turn.end() }
        if let claim, mode != .record, !claim.isRerecorded {
            do {
                return try await replay(claim, to: request, body: sent.body)
            } catch {
                // Before the call ends. The thread that read the file may still have the claim.
                claim.release()
                throw error
            }
        }
        let recording = Recording(
            cassette: cassette,
            request: sent.redacted,
            claim: claim,
            turn: turn,
            redaction: redaction,
            includesFailures: mode == .record
        )
        return try await record(request, recording: recording)
    }
}

/// Runs work that accesses files on a thread that may block, unlike the threads of Swift's tasks.
private func withFiles<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(with: Result { try work() }) }
    }
}

// MARK: - Replaying

extension CassetteTransport {
    /// Replays an entry, which stays unused if the call is cancelled or the response can't be read or stored.
    private func replay(
        _ claim: Cassette.Claim,
        to request: TransportRequest,
        body: Data
    ) async throws -> TransportResponse {
        let outcome = try await withFiles { [cassette] in try cassette.source.outcome(of: claim.item) }
        try Task.checkCancellation()
        var request = request
        // The body was already read.
        if case .none = request.body {} else { request.body = .data(body) }
        guard let response = outcome.response, outcome.error == nil || request.isStreamed else {
            claim.use()
            return try await StubTransport(.failure(outcome.error ?? URLError(.unknown))).send(request)
        }
        let sample = SampleResponse.response(status: response.status, headers: response.headers, data: response.body)
        var replayed = try await StubTransport(sample).send(request)
        replayed.head = ResponseHead(
            statusCode: response.status,
            headers: response.headers,
            httpVersion: response.httpVersion
        )
        if case .stream(let body) = replayed.body {
            replayed.body = .stream(body.using(claim, endingWith: outcome.error))
        } else {
            claim.use()
        }
        return replayed
    }
}

// MARK: - Recording

extension CassetteTransport {
    private func record(_ request: TransportRequest, recording: Recording) async throws -> TransportResponse {
        let response: TransportResponse
        do {
            response = try await recorded.send(request)
        } catch {
            if !Task.isCancelled { try await recording.end(with: error) }
            throw error
        }
        try Task.checkCancellation()
        var result = response
        switch response.body {
        case .data(let data): try await recording.end(response.head) { data }
        case .file(let file): try await recording.end(response.head) { try Data(contentsOf: file) }
        case .stream(let body): result.body = .stream(recording.recorded(body, of: response.head))
        // Not requested: `upgradesConnections` is `false`.
        case .upgraded: break
        }
        return result
    }
}

/// A call that is being recorded.
private final class Recording: Sendable {
    private let cassette: Cassette
    private let request: RedactedRequest
    private let claim: Cassette.Claim?
    private let turn: RecordingTurn
    private let redaction: Redaction
    private let includesFailures: Bool
    private let isEnded = Locked(false)

    init(
        cassette: Cassette,
        request: RedactedRequest,
        claim: Cassette.Claim?,
        turn: RecordingTurn,
        redaction: Redaction,
        includesFailures: Bool
    ) {
        self.cassette = cassette
        self.request = request
        self.claim = claim
        self.turn = turn
        self.redaction = redaction
        self.includesFailures = includesFailures
    }

    func end(
        _ head: ResponseHead,
        failure: Int? = nil,
        body: @escaping @Sendable () throws -> Data
    ) async throws {
        isEnded.withLock { $0 = true }
        try await withFiles { [self] in
            let response = RecordedResponse(head, body: try body(), isComplete: failure == nil, by: redaction)
            try cassette.write(
                request,
                outcome: RecordedOutcome(response: response, failure: failure),
                to: claim,
                turn: turn
            )
        }
    }

    /// Records a failure of the network. Other errors, such as that of a file on this device, aren't recorded.
    func end(with error: any Error) async throws {
        guard includesFailures, let code = error.recordedCode else { return }
        isEnded.withLock { $0 = true }
        try await withFiles { [self] in
            try cassette.write(request, outcome: RecordedOutcome(failure: code), to: claim, turn: turn)
        }
    }

    /// The same body, recorded when it is read to its end.
    func recorded(_ body: ResponseBody, of head: ResponseHead) -> ResponseBody {
        let bytes = Locked(Data())
        return ResponseBody { [self] in
            if isEnded.withLock({ $0 }) { return nil }
            do {
                var iterator = body.makeAsyncIterator()
                if let piece = try await iterator.next() {
                    bytes.withLock { $0.append(piece) }
                    return piece
                }
            } catch {
                if includesFailures, !Task.isCancelled, let code = error.recordedCode {
                    try await end(head, failure: code) { bytes.withLock { $0 } }
                }
                throw error
            }
            try Task.checkCancellation()
            try await end(head) { bytes.withLock { $0 } }
            return nil
        }
    }
}

extension Error {
    /// The code of a failure of the network; `nil` for a cancellation, and for other errors.
    fileprivate var recordedCode: Int? {
        guard let error = self as? URLError else { return nil }
        switch error.code {
        case .cancelled, .fileDoesNotExist, .fileIsDirectory, .noPermissionsToReadFile, .cannotCreateFile,
            .cannotOpenFile, .cannotWriteToFile, .cannotMoveFile, .cannotCloseFile, .cannotRemoveFile:
            return nil
        default: return error.code.rawValue
        }
    }
}

extension TransportRequest {
    fileprivate var isStreamed: Bool {
        if case .stream = destination { true } else { false }
    }
}

extension ResponseBody {
    /// The same body, which uses the entry when it has been read to its end, and can then throw an error.
    fileprivate func using(_ claim: Cassette.Claim, endingWith error: URLError?) -> ResponseBody {
        ResponseBody {
            do {
                var iterator = makeAsyncIterator()
                if let piece = try await iterator.next() { return piece }
            } catch {
                claim.release()
                throw error
            }
            claim.use()
            if let error { throw error }
            return nil
        }
    }
}
