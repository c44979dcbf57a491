// SPDX-License-Identifier: MIT
import TargetKit

extension Resource {
    /// Shows a change at once, and makes the call that tells the server. If the call fails, the change is taken back.
    ///
    /// ```swift
    /// try await profile.update(optimistically: { $0.name = name }) {
    ///     try await provider.request(.rename(name))
    /// }
    /// ```
    ///
    /// Of updates that overlap, each is taken back by itself: the others stay. A load that begins during the call and
    /// ends before it replaces the change; the call's failure then changes nothing. A change does not affect a resource
    /// without a value. Its age stays the same: call ``invalidate()`` if the server can have changed more.
    ///
    /// - Parameters:
    ///   - change: Changes the value. It can be called several times, on any thread.
    ///   - call: Tells the server.
    /// - Returns: The result of the call.
    /// - Throws: The error of the call.
    @discardableResult
    public func update<Result, Failure: Error>(
        optimistically change: @escaping @Sendable (inout Value) -> Void,
        _ call: () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        let number = update { $0.begin(change) }
        do throws(Failure) {
            let result = try await call()
            update { $0.end(number, isConfirmed: true) }
            return result
        } catch {
            update { $0.end(number, isConfirmed: false) }
            throw error
        }
    }
}
