// SPDX-License-Identifier: MIT
import TargetKit
import _TargetKitFiles

/// Responds to a server's `Basic` (RFC 7617) and `Digest` (RFC 7616) challenges with the user and password of a
/// `URLCredential`.
///
/// ```swift
/// CredentialsPlugin { target in
///     target is Reports ? URLCredential(user: "anna", password: password, persistence: .none) : nil
/// }
/// ```
///
/// - If a response has status 401 and a challenge, the call is retried with credentials. Later calls to the same server
///   include credentials from the start. If the server rejects them, the call returns the server's response.
/// - `Digest` is preferred over `Basic`, and SHA-256 over MD5. The quality of protection is `auth`. If a server
///   requires `auth-int` or another algorithm, the call fails with a descriptive error of stage `.status`.
/// - `Digest` credentials are valid for a single URL. If the server redirects the request to another URL that also
///   requires them, the call returns that 401 response.
/// - A call with the scheme (`CallOptions.authorization`) `.basic` includes the user and password from the start, for
///   servers that send no challenge. Anyone who can read the request can read them.
/// - Requests that have an `Authorization` field, such as another plugin's token, aren't changed, nor are calls with a
///   scheme other than `.automatic` and `.basic`. The closure isn't called for them.
/// - The credential's `persistence` is ignored; nothing is stored.
///
/// Several providers can use the same plugin. Copies share the servers' challenges.
public struct CredentialsPlugin: Plugin {
    /// The place after the other plugins that add credentials.
    public var place: PluginPlace { .missingCredentials }

    /// The hooks that the plugin implements.
    public var hooks: PluginHooks { [.prepare, .retry] }

    private let credential: @Sendable (any TargetType) async throws -> URLCredential?
    private let challenges = Locked<[String: [ServerChallenge]]>([:])
    private let calls = PluginStorage<AnsweredCall>()

    /// Creates a plugin that gets its credential from a closure.
    ///
    /// - Parameter credential: Returns the credential for a target's call; `nil`, or a credential without a user or
    ///   password, leaves the request unchanged. The call ends with stage `.request` if the closure throws an error,
    ///   the user or password contains a control character, or the user for the `Basic` scheme contains a colon.
    public init(_ credential: @escaping @Sendable (any TargetType) async throws -> URLCredential?) {
        self.credential = credential
    }

    /// Sets the field if the request has none and the server's challenge is known.
    public func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
        let scheme = context.options.authorization
        context[RequestLoginKey.self] = nil
        guard scheme == .automatic || scheme == .basic, !request.hasAuthorization else { return request }
        // Read once, because other calls are challenged while this one waits for the app's closure.
        let known =
            scheme == .basic ? .basic : context[calls]?.challenge ?? latestChallenge(of: request.url)
        guard let known else {
            context[RequestLoginKey.self] = .unknown { [credential, target = context.target] in
                guard let login = try? await credential(target), login.password != nil else { return nil }
                return login.user.map(RequestLogin.id)
            }
            return request
        }
        guard let login = try await login(for: context) else { return request }
        context[RequestLoginKey.self] = .known(RequestLogin.id(of: login.user))
        var call = context[calls] ?? AnsweredCall()
        call.challenge = known
        context[calls] = call
        // A call of the scheme basic doesn't show that the server accepts it.
        let answered = scheme == .basic ? ServerChallenge(challenge: known) : noteAnswer(to: known, of: request.url)
        var request = request
        try request.setField(.authorization, to: answered.answer(to: request, login: login))
        return request
    }

    /// Retries a call that the server challenged.
    public func retry(_ result: Result<Response, TargetKitError>, context: RequestContext) async -> RetryDecision {
        guard let response = result.response, response.statusCode == 401, context.options.authorization == .automatic,
            let request = response.request, !response.isCrossOrigin
        else { return .doNotRetry }
        var call = context[calls] ?? AnsweredCall()
        // Another plugin set the field.
        if request.hasAuthorization, call.challenge == nil { return .doNotRetry }
        let offered = AuthenticationChallenge.challenges(in: response.headers.values(for: "WWW-Authenticate"))
        do {
            guard let challenge = try Self.best(of: offered), call.isWorthAnswering(challenge),
                (try? await login(for: context)) != nil
            else { return .doNotRetry }
            call.answerCount += 1
            call.challenge = challenge
            context[calls] = call
            return response.repetition(of: context)
        } catch {
            guard (try? await login(for: context)) != nil else { return .doNotRetry }
            return .fail(TargetKitError(stage: .status, request: request, response: response, underlying: error))
        }
    }
}

/// The user with whose password a request is sent, or would be if the server sent a challenge.
package enum RequestLogin: Sendable {
    /// The request contains the password.
    case known(String)
    /// The server hasn't sent a challenge since launch. The closure asks the app for the user.
    case unknown(@Sendable () async -> String?)

    fileprivate static func id(of user: String) -> String { SHA256Hasher.hexadecimal(of: user) }
}

package enum RequestLoginKey: RequestContextKey { package typealias Value = RequestLogin }

/// The authentication that a server requests.
private enum KnownChallenge: Sendable {
    case basic
    case digest(DigestChallenge)

    /// Whether answers to both challenges are counted together.
    func isSame(as other: KnownChallenge) -> Bool {
        switch (self, other) {
        case (.basic, .basic): true
        case (.digest(let one), .digest(let two)): one.hasNonce(of: two)
        default: false
        }
    }
}

/// A challenge of a server, and the number of answers to it.
private struct ServerChallenge: Sendable {
    let challenge: KnownChallenge
    var answerCount = 0

    /// The value of the field for the last of these answers.
    func answer(to request: URLRequest, login: CredentialsPlugin.Login) throws -> String {
        guard case .digest(let digest) = challenge else {
            return try BasicCredentials(user: login.user, password: login.password).fieldValue
        }
        if login.user.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
            throw DigestChallenge.Problem.controlCharacter
        }
        let answered = DigestChallenge.Request(
            method: request.httpMethod ?? "GET",
            uri: request.url?.requestTarget ?? "/",
            count: answerCount
        )
        return digest.answer(to: answered, user: login.user, password: login.password)
    }
}

/// The challenges of a call.
private struct AnsweredCall: Sendable {
    /// The challenge to which the next or the latest attempt responds. A retried attempt responds to its own, because a
    /// nonce may be valid for one request only.
    var challenge: KnownChallenge?
    /// The number of challenges of this call to which it responded.
    var answerCount = 0

    /// Whether the server may accept another response. It may accept the first one of this call, unless the password
    /// has just been sent, and one more if only the nonce was stale.
    func isWorthAnswering(_ new: KnownChallenge) -> Bool {
        switch (challenge, new) {
        case (.basic?, .basic): false
        case (_, .basic): answerCount == 0
        case (_, .digest(let digest)): answerCount == 0 || digest.isStale && answerCount == 1
        }
    }
}

// MARK: - Challenges

extension CredentialsPlugin {
    fileprivate typealias Login = (user: String, password: String)

    /// The number of servers, and of challenges of each, that are remembered.
    private static let serverLimit = 100
    private static let challengeLimit = 8

    /// Calls the app's closure.
    private func login(for context: RequestContext) async throws -> Login? {
        guard let credential = try await credential(context.target), let user = credential.user,
            let password = credential.password
        else { return nil }
        return (user, password)
    }

    /// The latest challenge of a server; `nil` if it sent none. Most programs call no server that sends one.
    private func latestChallenge(of server: URL?) -> KnownChallenge? {
        if challenges.withLock(\.isEmpty) { return nil }
        let server = server?.server ?? ""
        return challenges.withLock { $0[server]?.last?.challenge }
    }

    /// Counts an answer to a challenge, and remembers the challenge for later calls, which may then use its nonce, too.
    ///
    /// - Returns: The challenge with the number of answers. If another call received the same nonce, it is that call's,
    ///   because all answers have one client nonce.
    private func noteAnswer(to challenge: KnownChallenge, of server: URL?) -> ServerChallenge {
        let server = server?.server ?? ""
        return challenges.withLock { challenges in
            var known = challenges[server] ?? []
            let index = known.lastIndex { $0.challenge.isSame(as: challenge) }
            var answered = index.map { known.remove(at: $0) } ?? ServerChallenge(challenge: challenge)
            answered.answerCount += 1
            known.append(answered)
            // Limits memory use for programs that call many servers.
            if challenges.count >= Self.serverLimit, challenges[server] == nil { challenges = [:] }
            challenges[server] = Array(known.suffix(Self.challengeLimit))
            return answered
        }
    }

    /// The strongest supported challenge; `nil` if there is none with these schemes.
    ///
    /// - Throws: ``DigestChallenge/Problem`` if none of these challenges is supported.
    private static func best(of challenges: [AuthenticationChallenge]) throws(DigestChallenge.Problem)
        -> KnownChallenge?
    {
        var problem: DigestChallenge.Problem?
        var digests: [DigestChallenge] = []
        for challenge in challenges where challenge.hasScheme("Digest") {
            do { digests.append(try DigestChallenge(challenge)) } catch { problem = problem ?? error }
        }
        if let best = digests.first(where: { $0.digest == .sha256 }) ?? digests.first { return .digest(best) }
        if challenges.contains(where: { $0.hasScheme("Basic") }) { return .basic }
        if let problem { throw problem }
        return nil
    }
}

extension Result<Response, TargetKitError> {
    /// The response, even if its status is an error.
    fileprivate var response: Response? {
        switch self {
        case .success(let response): response
        case .failure(let error): error.stage == .cancelled ? nil : error.response
        }
    }
}

extension URL {
    /// The scheme, host and port.
    fileprivate var server: String { "\(scheme ?? "")://\(host() ?? ""):\(port ?? 0)" }

    /// The path and query in the request line (RFC 9112 §3.2.1).
    fileprivate var requestTarget: String {
        let path = path(percentEncoded: true)
        return (path.isEmpty ? "/" : path) + (query(percentEncoded: true).map { "?" + $0 } ?? "")
    }
}
