// SPDX-License-Identifier: MIT
#if os(Linux)

/// An upgraded connection of libcurl, which is closed when the object is released.
final class CurlByteConnection: ByteConnection {
    private let channel: CurlChannel

    init(_ channel: CurlChannel) {
        self.channel = channel
    }

    deinit {
        channel.close(sending: [])
    }

    func read() async throws -> [UInt8]? {
        try await channel.read()
    }

    func write(_ bytes: [UInt8], completion: @escaping @Sendable ((any Error)?) -> Void) {
        channel.write(bytes, completion: completion)
    }

    func writeNow(_ bytes: [UInt8]) -> Int {
        channel.writeNow(bytes)
    }

    /// Ends the handshake, whose timeouts don't apply any more.
    ///
    /// - Throws: The error with which the loop interrupted it.
    func endHandshake() throws {
        try channel.endHandshake()
    }

    func close(sending bytes: [UInt8]) {
        channel.close(sending: bytes)
    }
}
#endif
