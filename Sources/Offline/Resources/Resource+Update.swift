// SPDX-License-Identifier: MIT
import TargetKit

extension Resource {
    /// Changes the value immediately and makes the call that changes it on the server. Reverts the change if the call
    /// fails.
    ///
    /// ```swift
    /// try await profile.update(optimistically: { $0.name = name }) {
    ///     try await provider.request(.rename(name))
    /// }
    /// ```
    ///
    /// Overlapping updates are reverted independently. The change is also applied to a value that is loaded during the
    /// call, and reverted if the call fails. Because the loaded value may already include the change, set values in a
    /// change rather than increment them. The value is stale after such a call.
    ///
    /// If there is no value, only the call is made. Call ``invalidate()`` if the server may have changed other parts of
    /// the value.
    ///
    /// - Parameters:
    ///   - change: Changes the value. It can be called several times, on any thread.
    ///   - isolation: The actor on which the function runs, so that `call` may use its state; default: the caller's.
    ///   - call: Makes the change on the server.
    /// - Returns: The result of the call.
    /// - Throws: The error of the call.
    @discardableResult
    public func update<Result>(
        optimistically change: @escaping @Sendable (inout Value) -> Void,
        isolation: isolated (any Actor)? = #isolation,
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
