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
    /// Of updates that overlap, each is taken back by itself: the others stay. A load during the call does not hide the
    /// change, and if the call fails, the loaded value stays. The loaded value can have the change already: a change
    /// should therefore set values rather than increase them, and the value is stale after the call.
    ///
    /// A change does not affect a resource without a value. Call ``invalidate()`` if the server can have changed more.
    ///
    /// - Parameters:
    ///   - change: Changes the value. It can be called several times, on any thread.
    ///   - call: Tells the server.
    /// - Returns: The result of the call.
    /// - Throws: The error of the call.
    @discardableResult
    public func update<Result>(
        optimistically change: @escaping @Sendable (inout Value) -> Void,
        _ call: () async throws -> Result
    ) async rethrows -> Result {
        let number = update { $0.begin(change) }
        do {
            let result = try await call()
            update { $0.end(number, isConfirmed: true) }
            return result
        } catch {
            update { $0.end(number, isConfirmed: false) }
            throw error
        }
    }
}
