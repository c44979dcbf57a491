// SPDX-License-Identifier: MIT
import FlyingSocks

/// The bytes of a film, which arrive as slowly as over a mobile network: 6 MB in about two seconds.
struct Film: AsyncBufferedSequence {
    typealias Element = UInt8

    static let size = 6_000_000
    private static let chunk = 60_000

    struct Iterator: AsyncBufferedIteratorProtocol {
        private var left = Film.size

        mutating func next() async throws -> UInt8? {
            try await nextBuffer(suggested: 1)?.first
        }

        mutating func nextBuffer(suggested count: Int) async throws -> [UInt8]? {
            guard left > 0 else { return nil }
            try await Task.sleep(for: .milliseconds(20))
            let size = Swift.min(Film.chunk, left)
            left -= size
            return Array(repeating: 0x54, count: size)
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator() }
}
