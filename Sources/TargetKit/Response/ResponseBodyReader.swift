// SPDX-License-Identifier: MIT
import Foundation

/// Reads a body up to its end or its failure, and then lets go of it.
struct ResponseBodyReader: Sendable {
    private var body: ResponseBody?

    init(_ body: ResponseBody) {
        self.body = body
    }

    /// The next piece; `nil` at the end and ever after.
    mutating func next() async throws -> Data? {
        // Each iterator of a body reads on where the last one stopped.
        var pieces = body?.makeAsyncIterator()
        do {
            if let piece = try await pieces?.next() { return piece }
        } catch {
            body = nil
            throw error
        }
        body = nil
        return nil
    }

    mutating func close() {
        body = nil
    }
}
