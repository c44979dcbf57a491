// SPDX-License-Identifier: MIT
#if canImport(CTargetKitCurl)
import Foundation

/// An upgraded connection of libcurl, which is closed when it is released.
final class CurlByteConnection: ByteConnection {
    private let channel: CurlChannel

    init(_ channel: CurlChannel) {
        self.channel = channel
    }

    deinit {
        channel.close(sending: Data())
    }

    func read() async throws -> Data? {
        try await channel.read()
    }

    func write(_ bytes: Data) async throws {
        try await channel.write(bytes)
    }

    func close(sending bytes: Data) {
        channel.close(sending: bytes)
    }
}
#endif
