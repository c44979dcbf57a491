// SPDX-License-Identifier: MIT
import Foundation

/// Reads a body up to its end, and then lets go of it; who reads closes it after a failure.
struct ResponseBodyReader: Sendable {
    private var body: ResponseBody?

    init(_ body: ResponseBody) {
        self.body = body
    }

    /// The next piece; `nil` at the end and ever after.
    mutating func next() async throws -> Data? {
        // Each iterator of a body reads on where the last one stopped.
        var pieces = body?.makeAsyncIterator()
        if let piece = try await pieces?.next() { return piece }
        close()
        return nil
    }

    mutating func close() {
        body = nil
    }
}
