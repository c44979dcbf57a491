// SPDX-License-Identifier: MIT

extension Result {
    /// The result of work that may throw.
    @inlinable
    package static func of(_ work: () async throws(Failure) -> Success) async -> Self {
        do throws(Failure) { return .success(try await work()) } catch { return .failure(error) }
    }
}
