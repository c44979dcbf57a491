// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A session of an ``AuthenticationPlugin``, from a sign-in to the next sign-in or sign-out, across refreshes and
/// launches of the app.
package final class CredentialSession: Sendable {
    private struct State: Sendable {
        var id: String?
        /// The digests that identify a session without an identifier, by cache.
        var digests: [ObjectIdentifier: String] = [:]
        /// The actions at the end of the session, by cache.
        var endings: [ObjectIdentifier: @Sendable () -> Void] = [:]
        var isEnded = false
    }

    private static let signIns = Locked(0)

    /// The number of sign-ins in this process.
    package static var signInCount: Int { signIns.withLock(\.self) }

    private let state: Locked<State>
    /// The number of the sign-in in this process, from 1; 0 for a session that was read from a store.
    let signInNumber: Int

    /// Creates a session.
    ///
    /// - Parameter id: The stored identifier; `nil` if there is none.
    package convenience init(id: String?) {
        self.init(id: id, signInNumber: 0)
    }

    private init(id: String?, signInNumber: Int) {
        state = Locked(State(id: id))
        self.signInNumber = signInNumber
    }

    /// Creates a session for a sign-in.
    package static func new() -> CredentialSession {
        let number = signIns.withLock { count in
            count += 1
            return count
        }
        return CredentialSession(id: UUID().uuidString, signInNumber: number)
    }

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
        let known = state.withLock { state in state.digests[cache] ?? state.id }
        if let known { return known }
        let new = first()
        return state.withLock { state in
            let user = state.digests[cache] ?? new
            // Stored, because a later refresh gives the session an identifier.
            state.digests[cache] = user
            return user
        }
    }

    /// Runs an action of a cache when the session ends; immediately if it has ended.
    package func onEnd(of cache: ObjectIdentifier, action: @escaping @Sendable () -> Void) {
        let isEnded = state.withLock { state in
            if !state.isEnded { state.endings[cache] = action }
            return state.isEnded
        }
        if isEnded { action() }
    }

    /// Ends the session.
    package func end() {
        let endings = state.withLock { state in
            state.isEnded = true
            defer { state.endings = [:] }
            return state.endings.values
        }
        for action in endings { action() }
    }
}

/// The part of a request that the credential of a session sets.
package struct AppliedCredential: Sendable {
    /// Identifies the plugin that applied it.
    let plugin: ObjectIdentifier
    package let session: CredentialSession
    /// The user; `nil` if it isn't known.
    var owner: CredentialOwner?
    /// The header fields that the credential set, with the values before and after.
    package let fields: [HTTPHeaderName: Change]
    /// The URLs before and after; `nil` if the credential didn't change the URL.
    private let urls: (old: URL, new: URL)?

    package struct Change: Sendable {
        package let old: String?
        package let new: String
    }

    init(by plugin: ObjectIdentifier, of session: CredentialSession, before: URLRequest, after: URLRequest) {
        self.plugin = plugin
        self.session = session
        urls = if let old = before.url, let new = after.url, old != new { (old, new) } else { nil }
        var fields: [HTTPHeaderName: Change] = [:]
        let before = before.allHTTPHeaderFields ?? [:]
        for (name, new) in after.allHTTPHeaderFields ?? [:] {
            let old = before.first { $0.key.equalsIgnoringASCIICase(name) }?.value
            if old != new { fields[HTTPHeaderName(rawValue: name)] = Change(old: old, new: new) }
        }
        self.fields = fields
    }

    /// Whether a request includes the unchanged credential.
    package func isCarried(by request: URLRequest) -> Bool {
        if fields.isEmpty, urls == nil { return false }
        if let urls, urls.new != request.url { return false }
        return fields.allSatisfy { request.value(forHTTPHeaderField: $0.key.rawValue) == $0.value.new }
    }

    /// Returns a request without the credential.
    package func removed(from request: URLRequest) -> URLRequest {
        var request = request
        if let urls { request.url = urls.old }
        for (name, change) in fields { request.setValue(change.old, forHTTPHeaderField: name.rawValue) }
        return request
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
        var owner = CredentialOwner(
            identifier: owners.map(\.identifier).joined(separator: " + "),
            fields: owners.reduce(into: []) { $0.formUnion($1.fields) }
        )
        owner.signInNumber = owners.compactMap(\.signInNumber).min()
        return owner
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
        credentialOwner = applied.owner
    }

    /// Notes the credential that replaces the plugin's applied one in the exchange.
    func refresh(_ credential: AppliedCredential) {
        var refreshed = self[RefreshedCredentialsKey.self] ?? []
        refreshed.replace(of: credential.plugin, by: credential)
        self[RefreshedCredentialsKey.self] = refreshed
        // A credential that another process stored can belong to another user.
        var current = self[AppliedCredentialsKey.self] ?? []
        for credential in refreshed { current.replace(of: credential.plugin, by: credential) }
        credentialOwner = current.owner
    }
}
