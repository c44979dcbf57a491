// SPDX-License-Identifier: MIT
import Foundation

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
