// SPDX-License-Identifier: MIT
import Foundation

/// Cookies by RFC 6265: what servers have set, and what of it goes with which request.
///
/// ```swift
/// let cookies = CookieStore()
/// cookies.store(["sid=31d4; Path=/; Secure; HttpOnly"], from: signInURL)
/// cookies.header(for: accountURL)  // "sid=31d4"
/// ```
///
/// One store is shared by all who are given it, and by nobody else. It lives in memory, or in a file as well:
/// ``init(file:onWriteFailure:now:)``.
///
/// - Limits: 4,096 bytes for name and value of a cookie, 50 cookies for a domain, 3,000 in all. Beyond them those go
///   that have ended, then within a domain those that are not Secure, then those that were not used for the longest
///   time.
/// - Beyond RFC 6265, as browsers do by now: a plain http exchange neither sets a Secure cookie nor one that would hide
///   it, and the names that begin with `__Secure-` and `__Host-` keep their promise (RFC 6265bis).
/// - **There is no list of public suffixes.** A `Domain` of a single label (`com`) or an IP address is refused unless
///   it is the host itself, but a server of `shop.co.uk` can set a cookie for all of `co.uk`. Share a store only by
///   hosts that may know of each other.
/// - `SameSite` has no effect: a request here comes from no site.
/// - `Sendable`: every method can be called from anywhere; each call is one step.
public final class CookieStore: Sendable {
    struct State: Sendable {
        var jar = CookieJar()
        var isWriting = false
    }

    let state: Locked<State>
    let file: CookieFile?
    let onWriteFailure: @Sendable (CookieFileError) -> Void
    let now: @Sendable () -> Date

    /// An empty store in memory.
    ///
    /// - Parameter now: the time, by which cookies end. Default: the system's clock.
    public init(now: @escaping @Sendable () -> Date = Date.init) {
        state = Locked(State())
        file = nil
        onWriteFailure = { _ in }
        self.now = now
    }

    init(
        _ cookies: [Cookie],
        in file: CookieFile,
        onWriteFailure: @escaping @Sendable (CookieFileError) -> Void,
        now: @escaping @Sendable () -> Date
    ) {
        var state = State()
        let time = now()
        for cookie in cookies { state.jar.insert(cookie, keepingCreation: false, at: time) }
        state.jar.hasUnsavedChanges = false
        self.state = Locked(state)
        self.file = file
        self.onWriteFailure = onWriteFailure
        self.now = now
    }

    /// All cookies that have not ended, in the order in which they were first stored.
    public var cookies: [Cookie] {
        let time = now()
        return state.withLock { $0.jar.cookies(at: time) }
    }

    /// The cookies that go with a request to the URL, in the order of RFC 6265 §5.4: longer paths first, then older
    /// ones.
    ///
    /// They count as used now. A URL that is not http or https has none.
    public func cookies(for url: URL) -> [Cookie] {
        // Most stores are empty, and then neither the clock nor the URL is looked at.
        guard state.withLock({ !$0.jar.isEmpty }), let origin = CookieOrigin(url) else { return [] }
        let time = now()
        return state.withLock { $0.jar.cookies(for: origin, at: time) }
    }

    /// The value of the `Cookie` field of a request to the URL; `nil` when no cookie goes with it.
    public func header(for url: URL) -> String? {
        let cookies = cookies(for: url)
        guard !cookies.isEmpty else { return nil }
        return cookies.map { "\($0.name)=\($0.value)" }.joined(separator: "; ")
    }

    /// Keeps what a response sets (RFC 6265 §5.3). A cookie that may not be set, or that cannot be read, is passed
    /// over.
    ///
    /// - Parameters:
    ///   - setCookieFields: the values of the `Set-Cookie` fields, one for each field: they must not be joined.
    ///   - url: the URL of the request that the response answers.
    public func store(_ setCookieFields: [String], from url: URL) {
        guard !setCookieFields.isEmpty, let origin = CookieOrigin(url) else { return }
        let time = now()
        let cookies = setCookieFields.compactMap { SetCookieField($0)?.cookie(from: origin, at: time) }
        guard !cookies.isEmpty else { return }
        state.withLock { state in
            for cookie in cookies where origin.isSecure || !state.jar.wouldHideSecureCookie(cookie, at: time) {
                state.jar.insert(cookie, keepingCreation: true, at: time)
            }
        }
        writeChanges()
    }

    /// Keeps a cookie of the app's own, in the place of one with the same name, domain and path.
    ///
    /// - Returns: whether it is kept. It is not when a server could not have set it: the domain is no host, or is a
    ///   single label or an address without ``Cookie/isHostOnly``; the path does not begin with `/`; name or value hold
    ///   `;`, control characters or blanks at an end; the name is empty or holds `=`; it is too long; the promise of
    ///   its prefix is not kept.
    @discardableResult
    public func set(_ cookie: Cookie) -> Bool {
        guard let cookie = cookie.checked else { return false }
        let time = now()
        state.withLock { $0.jar.insert(cookie, keepingCreation: false, at: time) }
        writeChanges()
        return true
    }

    /// Takes out the cookies of which the closure says so; it is called without a lock, and may use the store.
    public func remove(where shouldRemove: (Cookie) throws -> Bool) rethrows {
        let gone = try cookies.filter(shouldRemove)
        guard !gone.isEmpty else { return }
        state.withLock { $0.jar.remove(gone) }
        writeChanges()
    }

    /// Takes out every cookie, to sign out for one.
    public func removeAll() {
        state.withLock { $0.jar.removeAll() }
        writeChanges()
    }

    /// Takes out the cookies that do not say when they end: what a browser does when it is closed.
    public func removeSessionCookies() {
        remove { $0.expires == nil }
    }
}

extension CookieStore {
    /// A store that starts with the cookies of a file and keeps the file up to date.
    ///
    /// The file is JSON and holds secrets in plain text: only its owner can read it (mode 0600). Session cookies are
    /// never in it. Each change that concerns it writes a new file and puts it in the place of the old one, so nobody
    /// sees half of it; that has happened when the method that made the change returns, or another thread that writes
    /// just then does it next.
    ///
    /// A file belongs to one store: of two, also in two processes, the last to write wins.
    ///
    /// - Parameters:
    ///   - file: need not be there, but its folder must.
    ///   - onWriteFailure: is told when the file cannot be written, on the thread that made the change. The cookies in
    ///     memory stay right, and the next change writes them all. Default: does nothing.
    ///   - now: the time, by which cookies end. Default: the system's clock.
    /// - Throws: ``CookieFileError`` when the file is there and is not readable as cookies, or when it never could be
    ///   written.
    public convenience init(
        file: URL,
        onWriteFailure: @escaping @Sendable (CookieFileError) -> Void = { _ in },
        now: @escaping @Sendable () -> Date = Date.init
    ) throws {
        let file = try CookieFile(file)
        self.init(try file.read(), in: file, onWriteFailure: onWriteFailure, now: now)
    }

    /// Writes the file as long as something in it has changed, unless another thread is about that already.
    func writeChanges() {
        guard let file else { return }
        let time = now()
        while let cookies = state.withLock({ $0.beginWriting(at: time) }) {
            do {
                try file.save(cookies)
                state.withLock { $0.isWriting = false }
            } catch {
                state.withLock {
                    $0.isWriting = false
                    $0.jar.hasUnsavedChanges = true
                }
                return onWriteFailure(error)
            }
        }
    }
}

extension CookieStore.State {
    /// The cookies to write now; `nil` when there is nothing to write or somebody writes.
    fileprivate mutating func beginWriting(at now: Date) -> [Cookie]? {
        guard jar.hasUnsavedChanges, !isWriting else { return nil }
        isWriting = true
        jar.hasUnsavedChanges = false
        return jar.cookies(at: now).filter { $0.expires != nil }
    }
}
