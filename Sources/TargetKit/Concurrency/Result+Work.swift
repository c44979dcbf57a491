// SPDX-License-Identifier: MIT

extension Result where Failure == any Error {
    /// The result of work that may throw.
    static func of(_ work: () async throws -> Success) async -> Self {
        do { return .success(try await work()) } catch { return .failure(error) }
    }
}
