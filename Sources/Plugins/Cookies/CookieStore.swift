// SPDX-License-Identifier: MIT
import TargetKit

/// Stores the cookies that servers set, and selects the cookies for each request (RFC 6265).
///
/// ```swift
/// let cookies = CookieStore()
/// cookies.store(["sid=31d4; Path=/; Secure; HttpOnly"], from: signInURL)
/// cookies.cookies(for: accountURL).map(\.name)  // ["sid"]
/// ```
///
/// A store is in memory, and can also have a file (``init(file:onWriteFailure:now:)``).
///
/// - The limits are 4,096 bytes for the name and value of a cookie, 50 cookies for a domain, and 3,000 in total. Above
///   them, expired cookies are removed first, then cookies of the domain that aren't Secure, and then the least
///   recently used ones.
/// - As in browsers (RFC 6265bis), an http response can't set a Secure cookie or one that would hide it, and the
///   requirements of the name prefixes `__Secure-` and `__Host-` are enforced. For `localhost`, 127.0.0.0/8 and `::1`,
///   http counts as https.
/// - **There is no list of public suffixes.** A `Domain` with a single label (`com`) or an IP address is rejected
///   unless it is the host itself, but a server of `shop.co.uk` can set a cookie for all of `co.uk`. Share a store only
///   between hosts that trust each other.
/// - `SameSite` has no effect, because requests don't come from a site.
/// - Every method can be called on any thread, and is atomic.
public final class CookieStore: Sendable {
    struct State: Sendable {
        var jar = CookieJar()
        /// The number of times that all cookies were removed.
        var generation = 0
        var isWriting = false
    }

    let state: Locked<State>
    let file: CookieFile?
    let onWriteFailure: @Sendable (any Error) -> Void
    let now: @Sendable () -> Date

    /// Creates an empty store in memory.
    ///
    /// - Parameter now: Returns the current time. Default: the system's clock.
    public init(now: @escaping @Sendable () -> Date = Date.init) {
        state = Locked(State())
        file = nil
        onWriteFailure = { _ in }
        self.now = now
    }

    init(
        _ cookies: [Cookie],
        in file: CookieFile,
        onWriteFailure: @escaping @Sendable (any Error) -> Void,
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

    /// All cookies that haven't expired, in the order in which they were first stored.
    public var cookies: [Cookie] {
        let time = now()
        return state.withLock { $0.jar.cookies(at: time) }
    }

    /// Returns the cookies for a request to the URL, in the order of RFC 6265 §5.4, with longer paths and then older
    /// cookies first.
    ///
    /// Marks them as used. Returns none for a URL that isn't http or https.
    public func cookies(for url: URL) -> [Cookie] {
        // Most stores are empty. The clock and the URL are then not read.
        guard state.withLock({ !$0.jar.isEmpty }), let origin = CookieOrigin(url) else { return [] }
        let time = now()
        return state.withLock { $0.jar.cookies(for: origin, at: time) }
    }

    /// The value of the `Cookie` field of a request to the URL; `nil` if there are no cookies for it.
    package func header(for url: URL) -> String? {
        let cookies = cookies(for: url)
        guard !cookies.isEmpty else { return nil }
        return cookies.map { "\($0.name)=\($0.value)" }.joined(separator: "; ")
    }

    /// Stores the cookies that a response sets (RFC 6265 §5.3). Invalid or forbidden cookies are ignored.
    ///
    /// - Parameters:
    ///   - setCookieFields: The values of the `Set-Cookie` fields, which must not be joined.
    ///   - url: The URL of the request.
    public func store(_ setCookieFields: [String], from url: URL) {
        store(setCookieFields, from: url, generation: nil)
    }

    /// Changes when all cookies are removed.
    var generation: Int { state.withLock(\.generation) }

    /// Stores the cookies that a response sets, unless all cookies have been removed since its request was prepared.
    ///
    /// - Parameter generation: The ``generation`` at that time; `nil` if the response isn't to a request of before.
    func store(_ setCookieFields: [String], from url: URL, generation: Int?) {
        guard !setCookieFields.isEmpty, let origin = CookieOrigin(url) else { return }
        let time = now()
        let cookies = setCookieFields.compactMap { SetCookieField($0)?.cookie(from: origin, at: time) }
        guard !cookies.isEmpty else { return }
        state.withLock { state in
            guard generation == nil || generation == state.generation else { return }
            for cookie in cookies where origin.isSecure || !state.jar.wouldHideSecureCookie(cookie, at: time) {
                state.jar.insert(cookie, keepingCreation: true, at: time)
            }
        }
        writeChanges()
    }

    /// Stores a cookie, replacing one with the same name, domain and path.
    ///
    /// - Returns: Whether the cookie is valid and was stored. It is invalid if the domain isn't a host, or is a single
    ///   label or an address without ``Cookie/isHostOnly``; if the path doesn't start with `/`; if the name or value
    ///   contains `;`, control characters, or leading or trailing whitespace; if the name is empty or contains `=`; if
    ///   it is too long; or if it doesn't meet the requirements of its name's prefix.
    @discardableResult
    public func set(_ cookie: Cookie) -> Bool {
        guard let cookie = cookie.checked else { return false }
        let time = now()
        state.withLock { $0.jar.insert(cookie, keepingCreation: false, at: time) }
        writeChanges()
        return true
    }

    /// Removes the cookies for which the closure returns `true`. The closure may use the store.
    public func remove(where shouldRemove: (Cookie) throws -> Bool) rethrows {
        let gone = try cookies.filter(shouldRemove)
        guard !gone.isEmpty else { return }
        state.withLock { $0.jar.remove(gone) }
        writeChanges()
    }

    /// Removes all cookies, for example when the user signs out. The cookies in responses to requests that were prepared
    /// before are ignored.
    public func removeAll() {
        state.withLock { state in
            state.generation += 1
            state.jar.removeAll()
        }
        writeChanges()
    }
}

extension CookieStore {
    /// Creates a store with the cookies in a file, and keeps the file up to date.
    ///
    /// The file is JSON and contains secrets in plain text. Only its owner can read it (mode 0600). It doesn't contain
    /// session cookies. The file is replaced atomically before the method that changes a cookie returns, or by another
    /// thread that is currently writing.
    ///
    /// Only one store, in one process, can use a file. Otherwise, the last write wins.
    ///
    /// - Parameters:
    ///   - file: The file, which need not exist, in an existing folder.
    ///   - onWriteFailure: Called on the thread that made the change if the file can't be written. The cookies in
    ///     memory stay correct, and the next change writes all of them. Default: does nothing.
    ///   - now: Returns the current time. Default: the system's clock.
    /// - Throws: An error that describes the file and the problem if the file can't be read or written.
    public convenience init(
        file: URL,
        onWriteFailure: @escaping @Sendable (any Error) -> Void = { _ in },
        now: @escaping @Sendable () -> Date = Date.init
    ) throws {
        let file = try CookieFile(file)
        self.init(try file.read(), in: file, onWriteFailure: onWriteFailure, now: now)
    }

    /// Writes the file until it has no unsaved changes, unless another thread is writing it.
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
    /// The cookies to write; `nil` if nothing changed or another thread is writing.
    fileprivate mutating func beginWriting(at now: Date) -> [Cookie]? {
        guard jar.hasUnsavedChanges, !isWriting else { return nil }
        isWriting = true
        jar.hasUnsavedChanges = false
        return jar.cookies(at: now).filter { $0.expires != nil }
    }
}
