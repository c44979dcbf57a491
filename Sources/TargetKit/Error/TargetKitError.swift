// SPDX-License-Identifier: MIT

/// The failure of a call: the stage, the target, and the underlying error.
///
/// ```swift
/// do {
///     let user = try await provider.request(.user(name), as: User.self)
/// } catch {
///     switch error.kind {
///     case .offline, .timedOut: showRetry()
///     case .unauthorized: showSignIn()
///     case .cancelled: break
///     default: show(error.localizedDescription)
///     }
/// }
/// ```
///
/// If other statements of the `do` throw too, write `catch let error as TargetKitError`. Swift infers the error's type
/// only if all statements throw the same type.
public struct TargetKitError: LocalizedError, CustomNSError, Sendable {
    /// The step of a call that failed.
    public enum Stage: Sendable, Hashable, CaseIterable {
        /// The endpoint couldn't be built from the target, because of its path or the endpoint closure.
        case endpoint
        /// The request couldn't be built from the endpoint, because of an encoding, the request closure or a plugin's
        /// `prepare`, or a plugin rejected it, or a ``TransferDriver`` failed before it sent a request.
        case request
        /// The exchange failed, or a ``TransferDriver`` after it sent a request; the response is missing or incomplete.
        case transport
        /// The call was cancelled, at any step.
        case cancelled
        /// The target doesn't accept the response's status code.
        case status
        /// The response's body couldn't be decoded.
        case decoding
        /// The response's body reports a failure.
        case envelope
        /// The provider's scope is shut down and accepts no new calls.
        case shutDown
    }

    /// What is known about a failure besides its stage and its cause.
    package enum Mark: UInt16, Sendable {
        /// It isn't retried: the call ended before the request was sent, or a shared exchange has already been retried.
        case final
        /// A plugin's `exchange` threw it to end the call, so it doesn't indicate a failing server.
        case ofPlugin
        /// The exchange followed a redirect, so the server has responded to the call's request.
        case afterRedirect
        /// The target didn't accept the status of a response whose body also reports a failure.
        case rejectedStatus
        /// The call may be made again, because no server can have processed a request that must not be sent twice, or
        /// because another call continues the transfer.
        case safeToRepeat
        /// An error handler of the app created it. It isn't passed to other handlers.
        case handled
        /// An authentication plugin ended the session, whether the server rejected the credential by its status or by a
        /// code in the body.
        case endedSession
        /// The refresh of a credential failed, and the call with it. The request is the call's.
        case ofRefresh
        /// The call failed during an earlier launch of the app. The line of the underlying error is the whole line.
        case ofEarlierLaunch
        /// The call's driver threw it.
        case ofDriver
        /// The request wasn't sent, because the session of its credential has ended. The response stands for the one that
        /// the server would send.
        case unsent
    }

    private struct Fields: Sendable {
        var stage: Stage
        var target: (any TargetType)?
        var request: URLRequest?
        var response: Response?
        var underlying: (any Error)?
        var appError: (any Error)?
        var unreadable: UnreadableBody?
        /// One bit for each ``Mark``.
        var marks: UInt16 = 0
        var previousAttempts: [FailedAttempt] = []
    }

    private var fields: Boxed<Fields>

    /// The step that failed.
    public var stage: Stage {
        get { fields.value.stage }
        set { fields.value.stage = newValue }
    }
    /// The target of the call, unwrapped from a ``MultiTarget``; `nil` if no target is known, for example for a
    /// response created in a test.
    public var target: (any TargetType)? {
        get { fields.value.target }
        set { fields.value.target = newValue }
    }
    /// The request as far as it was built; `nil` if the call failed before that.
    public var request: URLRequest? {
        get { fields.value.request }
        set { fields.value.request = newValue }
    }
    /// The response; `nil` if there is none.
    public var response: Response? {
        get { fields.value.response }
        set { fields.value.response = newValue }
    }
    /// The underlying error: a `URLError`, a `DecodingError`, or the error that a closure or plugin threw; `nil` if
    /// there is none, for example at stage `.status`.
    ///
    /// URLs in an error of Foundation omit user, query and fragment, which can contain secrets. ``request`` has the
    /// complete URL.
    public var underlying: (any Error)? {
        get { fields.value.underlying }
        set { fields.value.underlying = newValue.map(RedactedError.of) }
    }
    /// The app's own error for this failure, from an ``ErrorMappingTarget``; `nil` if there is none.
    public var appError: (any Error)? {
        get { fields.value.appError }
        set { fields.value.appError = newValue }
    }
    /// The attempts of the call before the last one, in order; empty if the call wasn't retried.
    public var previousAttempts: [FailedAttempt] {
        get { fields.value.previousAttempts }
        set { fields.value.previousAttempts = newValue }
    }

    /// Whether the call, a plugin or the driver noted this about the failure.
    package func isMarked(_ mark: Mark) -> Bool { fields.value.marks & (1 << mark.rawValue) != 0 }

    /// Notes something about the failure, or withdraws it.
    package mutating func mark(_ mark: Mark, _ isSet: Bool = true) {
        let bit: UInt16 = 1 << mark.rawValue
        if isSet { fields.value.marks |= bit } else { fields.value.marks &= ~bit }
    }

    /// The status code of the response if the target doesn't accept it; `nil` for any other failure. The ``stage`` is
    /// `.status`, or `.envelope` if the body also reports a failure.
    public var rejectedStatusCode: Int? {
        stage == .status || stage == .envelope && isMarked(.rejectedStatus) ? response?.statusCode : nil
    }
    /// The reason the body is unreadable, if it is more specific than ``underlying``.
    var unreadable: UnreadableBody? {
        get { fields.value.unreadable }
        set { fields.value.unreadable = newValue }
    }

    /// Creates an error.
    @inline(never)
    public init(
        stage: Stage,
        target: (any TargetType)? = nil,
        request: URLRequest? = nil,
        response: Response? = nil,
        underlying: (any Error)? = nil,
        appError: (any Error)? = nil
    ) {
        fields = Boxed(
            Fields(
                stage: stage,
                target: target,
                request: request,
                response: response,
                underlying: underlying.map(RedactedError.of),
                appError: appError
            )
        )
    }
}

extension TargetKitError {
    /// Creates the error of a step that threw. Any kind of cancellation error has stage `.cancelled`. A
    /// ``TargetKitError`` retains its stage, and receives the values that it lacks.
    init(
        _ error: any Error,
        at stage: Stage,
        target: any TargetType,
        request: URLRequest? = nil,
        response: Response? = nil
    ) {
        guard let error = error as? TargetKitError else {
            let isCancellation = error is CancellationError || (error as? URLError)?.code == .cancelled
            self.init(
                stage: isCancellation ? .cancelled : stage,
                target: target,
                request: request,
                response: response,
                underlying: error
            )
            return
        }
        self = error
        // Each assignment creates a copy of the fields.
        if self.target == nil { self.target = target }
        if self.request == nil, request != nil { self.request = request }
        if self.response == nil, response != nil { self.response = response }
    }
}

extension TargetKitError: ReflectsDescription {
    /// One line for the developer: the target, the failure, and its reason. Queries, header fields, bodies and
    /// associated values are omitted, because they can contain secrets. For an undecodable body, it contains the key
    /// path, or the kind and the media type. ``Response/excerpt`` is the beginning of the body.
    public var description: String {
        if isMarked(.ofEarlierLaunch), let underlying { return underlying.redactedLine }
        var text = target.map { "\($0.name): " } ?? ""
        text += sentence
        if let response, !isMarked(.unsent) { text += " (HTTP \(response.statusCode))" }
        if let url = request?.url ?? response?.request?.url {
            text += " [\(request?.httpMethod ?? "GET") \(RedactedURL(url))"
            if let last = lastURL, RedactedURL(last).description != RedactedURL(url).description {
                text += ", redirected to \(RedactedURL(last))"
            }
            text += "]"
        }
        if isMarked(.ofRefresh), isMarked(.endedSession) { text += ": \(Self.failedRefresh)" }
        if let unreadable {
            text += ": \(unreadable)"
        } else if let underlying {
            text += ": \(underlying.redactedLine)"
        }
        if rejectedStatusCode != nil, (response?.request ?? request)?.url?.user?.isEmpty == false {
            text += ": the user and password in the URL aren't sent; use CredentialsPlugin"
        }
        if !previousAttempts.isEmpty {
            text += ", after \(previousAttempts.map(\.description).joined(separator: ", "))"
        }
        if let appError { text += "; for the app: \(appError.redactedLine)" }
        return text.inOneLine
    }

    /// The URL at which the exchange failed after redirects; `nil` without redirects.
    private var lastURL: URL? {
        guard isMarked(.afterRedirect), let error = underlying as? URLError else { return nil }
        return error.userInfo[NSURLErrorFailingURLErrorKey] as? URL
    }

    private static let failedRefresh = "the credential couldn't be refreshed"

    /// What failed. After a refresh that ended the session, stage and status are those of the rejected call; after any
    /// other, those of the refresh.
    private var sentence: String {
        if isMarked(.ofDriver) {
            if stage == .request { return "the transfer couldn't be started" }
            if stage == .transport { return "the transfer failed" }
        }
        if isMarked(.unsent) { return "the request wasn't sent, because the session has ended; sign in again" }
        guard isMarked(.ofRefresh), !isMarked(.endedSession) else { return stage.sentence }
        return stage == .request ? Self.failedRefresh : "\(Self.failedRefresh): \(stage.sentence)"
    }
}

extension TargetKitError.Stage {
    fileprivate var sentence: String {
        switch self {
        case .endpoint: "the endpoint couldn't be built"
        case .request: "the request couldn't be built"
        case .transport: "the exchange failed"
        case .cancelled: "the call was cancelled"
        case .status: "the status code isn't accepted"
        case .decoding: "the body couldn't be decoded"
        case .envelope: "the server reports a failure"
        case .shutDown: "the scope is shut down and accepts no new calls"
        }
    }
}
