// SPDX-License-Identifier: MIT
import TargetKit

/// A session of an ``AuthenticationPlugin``, from a sign-in to the next sign-in or sign-out, across refreshes and
/// launches of the app.
package final class CredentialSession: Sendable {
    private struct State: Sendable {
        var id: String?
        /// The digests that identify a session without an identifier, by cache.
        var digests: [(cache: ObjectIdentifier, digest: String)] = []
        /// The actions at the end of the session, by cache.
        var endings: [(cache: ObjectIdentifier, action: @Sendable () -> Void)] = []
        var isEnded = false

        func digest(of cache: ObjectIdentifier) -> String? { digests.first { $0.cache == cache }?.digest }
    }

    private static let lastNumber = Locked(0)

    /// The number of sessions that began in this process, in all plugins.
    package static var count: Int { lastNumber.withLock(\.self) }

    private static func nextNumber() -> Int {
        lastNumber.withLock { number in
            number += 1
            return number
        }
    }

    private let state: Locked<State>
    /// The numbers from that of the plugin's previous session up to this one's. It contains the ``count`` of each time
    /// after which the session began next. Empty for a session that didn't begin with a sign-in in this process.
    package let signIn: Range<Int>
    /// The stored calls that were made for another server than the current one when this session began.
    private let callsElsewhere: Set<UUID>

    private init(id: String?, signIn: Range<Int>, callsElsewhere: Set<UUID>) {
        state = Locked(State(id: id))
        self.signIn = signIn
        self.callsElsewhere = callsElsewhere
    }

    /// Creates a session without a sign-in, for a stored credential or for none.
    ///
    /// - Parameters:
    ///   - id: The stored identifier; `nil` if there is none.
    ///   - previous: The session before it; default: none.
    ///   - elsewhere: The stored calls for other servers (``StoredCallServers/elsewhere``); default: none.
    package convenience init(
        id: String?,
        after previous: CredentialSession? = nil,
        callsElsewhere elsewhere: Set<UUID> = []
    ) {
        let number = previous?.signIn.upperBound ?? 0
        self.init(id: id, signIn: number..<number, callsElsewhere: elsewhere)
    }

    /// Creates a session for a sign-in.
    static func new(after previous: CredentialSession, callsElsewhere elsewhere: Set<UUID>) -> CredentialSession {
        let signIn = previous.signIn.upperBound..<nextNumber()
        return CredentialSession(id: UUID().uuidString, signIn: signIn, callsElsewhere: elsewhere)
    }

    /// Creates the session of a credential that another process stored. Without an identifier, it may be the same one.
    static func adopted(
        id: String?,
        after previous: CredentialSession,
        callsElsewhere elsewhere: Set<UUID>
    ) -> CredentialSession {
        guard let id else { return CredentialSession(id: nil, after: previous, callsElsewhere: elsewhere) }
        let number = nextNumber()
        return CredentialSession(id: id, signIn: number..<number, callsElsewhere: elsewhere)
    }

    /// Whether a stored call was made for another server than the current one when this session began.
    fileprivate func began(elsewhereThan call: UUID) -> Bool { callsElsewhere.contains(call) }

    /// The identifier; `nil` if the session was read from a store without identifiers, and its credential wasn't
    /// refreshed.
    package var id: String? { state.withLock(\.id) }

    package var isEnded: Bool { state.withLock(\.isEnded) }

    /// Returns the identifier for storing the credential, and creates one if necessary.
    package func identified() -> String {
        state.withLock { state in
            let id = state.id ?? UUID().uuidString
            state.id = id
            return id
        }
    }

    /// Returns a digest that identifies the session in a cache, made from its identifier or else from its first
    /// credential.
    package func user(of cache: ObjectIdentifier, _ first: () -> String) -> String {
        let known = state.withLock { state in state.digest(of: cache) ?? state.id }
        if let known { return known }
        let new = first()
        return state.withLock { state in
            if let digest = state.digest(of: cache) { return digest }
            // Stored, because a later refresh gives the session an identifier.
            state.digests.append((cache, new))
            return new
        }
    }

    /// Runs an action of a cache when the session ends; immediately if it has ended.
    package func onEnd(of cache: ObjectIdentifier, action: @escaping @Sendable () -> Void) {
        let isEnded = state.withLock { state in
            if state.isEnded { return true }
            state.endings.removeAll { $0.cache == cache }
            state.endings.append((cache, action))
            return false
        }
        if isEnded { action() }
    }

    /// Ends the session.
    package func end() {
        let endings = state.withLock { state in
            state.isEnded = true
            defer { state.endings = [] }
            return state.endings
        }
        for (_, action) in endings { action() }
    }
}

/// The servers for which an outbox or a queue has stored calls.
///
/// A credential is one of the server that was current when its session began. So each session notes the stored calls
/// for other servers at that time, in whatever order the app selects a server, sets an account and signs in.
package final class StoredCallServers: Sendable {
    private static let sources = Locked<[(id: ObjectIdentifier, elsewhere: @Sendable () -> Set<UUID>)]>([])

    /// The ``CredentialSession/count`` before this object was created, and the calls for other servers at that time.
    private let first: (count: Int, elsewhere: Set<UUID>)

    /// Registers stored calls as long as this object exists.
    ///
    /// - Parameter elsewhere: Returns the calls that were made for another server than the current one.
    package init(elsewhere: @escaping @Sendable () -> Set<UUID>) {
        first = (CredentialSession.count, elsewhere())
        Self.sources.withLock { $0.append((ObjectIdentifier(self), elsewhere)) }
    }

    deinit {
        let id = ObjectIdentifier(self)
        // Released outside the lock.
        _ = Self.sources.withLock { sources in
            sources.firstIndex { $0.id == id }.map { sources.remove(at: $0) }
        }
    }

    /// The stored calls that were made for another server than the current one. This runs the app's code.
    static var elsewhere: Set<UUID> {
        sources.withLock(\.self).reduce(into: []) { $0.formUnion($1.elsewhere()) }
    }

    /// Whether a credential may be one of another server than the one for which a stored call was made.
    ///
    /// - Parameter isElsewhere: Whether the current server is another one. Without a session, nothing else is known.
    package func isOther(for call: UUID, _ requester: Requester, isElsewhere: Bool) -> Bool {
        guard !requester.sessions.isEmpty else { return isElsewhere && requester.isKnown }
        return requester.sessions.contains { session in
            session.began(elsewhereThan: call)
                || (session.signIn.upperBound <= first.count && first.elsewhere.contains(call))
        }
    }
}

/// The part of a request that the credential of a session sets.
package struct AppliedCredential: Sendable {
    /// Identifies the plugin that applied it.
    let plugin: ObjectIdentifier
    package let session: CredentialSession
    /// The user; `nil` if it isn't known.
    var owner: CredentialOwner?
    /// The header fields that the credential set.
    package let fields: [Change]
    /// The URLs before and after; `nil` if the credential didn't change the URL.
    private let urls: (old: URL, new: URL)?

    /// A header field, with the values before and after.
    package struct Change: Sendable {
        package let name: HTTPHeaderName
        package let old: String?
        package let new: String
    }

    init(by plugin: ObjectIdentifier, of session: CredentialSession, before: URLRequest, after: URLRequest) {
        self.plugin = plugin
        self.session = session
        urls = if let old = before.url, let new = after.url, old != new { (old, new) } else { nil }
        var fields: [Change] = []
        let before = before.allHTTPHeaderFields ?? [:]
        for (name, new) in after.allHTTPHeaderFields ?? [:] {
            let old = before.first { $0.key.equalsIgnoringASCIICase(name) }?.value
            if old != new { fields.append(Change(name: HTTPHeaderName(rawValue: name), old: old, new: new)) }
        }
        self.fields = fields
    }

    /// Whether a request includes the unchanged credential.
    package func isCarried(by request: URLRequest) -> Bool {
        if fields.isEmpty, urls == nil { return false }
        if let urls, urls.new != request.url { return false }
        return fields.allSatisfy { request.value(forHTTPHeaderField: $0.name.rawValue) == $0.new }
    }

    /// Returns a request without the credential.
    package func removed(from request: URLRequest) -> URLRequest {
        var request = request
        if let urls { request.url = urls.old }
        for field in fields { request.setValue(field.old, forHTTPHeaderField: field.name.rawValue) }
        return request
    }
}

/// The session of the credential that the request has.
private enum CredentialSessionKey: RequestContextKey { typealias Value = CredentialSession }

extension RequestContext {
    /// The session of the credential that an ``AuthenticationPlugin`` applied to the request; `nil` without one.
    package var credentialSession: CredentialSession? {
        get { self[CredentialSessionKey.self] }
        nonmutating set { self[CredentialSessionKey.self] = newValue }
    }
}

/// The user of a request's credential, as far as it is known.
package struct Requester: Sendable {
    /// Identifies the user or the session; `nil` if there is no credential, or no plugin names its owner.
    package let identifier: String?
    /// The session; `nil` if there is no credential of an ``AuthenticationPlugin``.
    package let session: CredentialSession?
    /// The sessions of all credentials.
    fileprivate let sessions: [CredentialSession]

    /// Reads the context of a request that has its credential.
    package init(_ context: RequestContext) {
        identifier = context.credentialOwner?.identifier
        session = context.credentialSession
        let credentials = [context[AppliedCredentialsKey.self], context[RefreshedCredentialsKey.self]]
        sessions = credentials.compactMap(\.self).joined().map(\.session)
    }

    /// Whether anything is known of the credential.
    package var isKnown: Bool { identifier != nil || session != nil }

    /// Whether the identifier is equal in every session of the user.
    package var namesUser: Bool { identifier != nil && identifier != session?.id }

    /// The identifier of the session if ``identifier`` is another one, which names the user; otherwise `nil`.
    package var sessionOfUser: String? { namesUser ? session?.id : nil }

    /// Whether the credential is the one of an earlier session, and not only of the same user.
    ///
    /// - Parameters:
    ///   - session: The earlier ``sessionOfUser``.
    ///   - owner: The earlier ``identifier``.
    package func isSession(_ session: String?, of owner: String?) -> Bool {
        guard let owner, owner == identifier else { return false }
        return !namesUser || self.session == nil || (session != nil && session == self.session?.id)
    }

    /// Whether the user is still the one of an earlier time, at which the credential couldn't be read.
    ///
    /// - Parameter count: ``CredentialSession/count`` at that time.
    package func isUnchanged(since count: Int) -> Bool {
        session.map { $0.signIn.upperBound <= count } ?? false
    }
}

/// The credentials with which an attempt was prepared, one for each plugin, in the order in which they were applied.
package enum AppliedCredentialsKey: RequestContextKey { package typealias Value = [AppliedCredential] }
/// The credentials that replaced some of them in the exchange after a refresh.
package enum RefreshedCredentialsKey: RequestContextKey { package typealias Value = [AppliedCredential] }

extension [AppliedCredential] {
    /// Replaces the credential of a plugin.
    mutating func replace(of plugin: ObjectIdentifier, by new: AppliedCredential?) {
        let index = firstIndex { $0.plugin == plugin }
        if let index { remove(at: index) }
        if let new { insert(new, at: index ?? endIndex) }
    }

    /// The owner of a request with these credentials. With several users, for example of an account and of a device,
    /// it is the owner of all of them.
    fileprivate var owner: CredentialOwner? {
        let owners = compactMap(\.owner)
        guard owners.count > 1 else { return owners.first }
        return CredentialOwner(
            identifier: owners.map(\.identifier).joined(separator: " + "),
            fields: owners.reduce(into: []) { $0.formUnion($1.fields) }
        )
    }

    /// The session of a request with these credentials: the one that began last.
    fileprivate var session: CredentialSession? {
        map(\.session).max { $0.signIn.upperBound < $1.signIn.upperBound }
    }
}

extension RequestContext {
    /// Notes the credential that a plugin applied to the request; `nil` if it has none.
    func apply(_ credential: AppliedCredential?, of plugin: ObjectIdentifier) {
        var (applied, refreshed) = (self[AppliedCredentialsKey.self] ?? [], self[RefreshedCredentialsKey.self] ?? [])
        let hadCredential = applied.contains { $0.plugin == plugin }
        guard hadCredential || credential != nil else { return }
        applied.replace(of: plugin, by: credential)
        refreshed.replace(of: plugin, by: nil)
        self[AppliedCredentialsKey.self] = applied
        self[RefreshedCredentialsKey.self] = refreshed
        note(applied)
    }

    /// Notes the credential that replaces the plugin's applied one in the exchange.
    func refresh(_ credential: AppliedCredential) {
        var refreshed = self[RefreshedCredentialsKey.self] ?? []
        refreshed.replace(of: credential.plugin, by: credential)
        self[RefreshedCredentialsKey.self] = refreshed
        // A credential that another process stored can belong to another user.
        var current = self[AppliedCredentialsKey.self] ?? []
        for credential in refreshed { current.replace(of: credential.plugin, by: credential) }
        note(current)
    }

    private func note(_ credentials: [AppliedCredential]) {
        credentialSession = credentials.session
        credentialOwner = credentials.owner
    }
}
