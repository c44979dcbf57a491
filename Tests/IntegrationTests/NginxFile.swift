// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// A file on nginx, of a name that no other test has: at `/files/`, compressed at `/gzip/`, drop by drop at `/slow/`.
struct NginxFile: Sendable {
    /// The file's name.
    let name = "\(UUID().uuidString).bin"
    /// What it holds.
    let bytes: Data

    /// A file that is not there yet.
    init(_ bytes: Data) {
        self.bytes = bytes
    }

    /// Puts it there, by the system's transport.
    func put() async throws {
        let call = ServerCall.nginx(.put, "/files/\(name)", .data(bytes)).with { $0.validation = .codes([201]) }
        _ = try await Provider<ServerCall>().request(call) as Response
    }

    /// Removes it, by the system's transport.
    func remove() async throws {
        let call = ServerCall.nginx(.delete, "/files/\(name)").with { $0.validation = .codes([204]) }
        _ = try await Provider<ServerCall>().request(call) as Response
    }

    /// 16 MiB that do not repeat and do not compress, the same every time. They are made once, which takes a while.
    static let noise = noise(16 << 20)

    private static func noise(_ count: Int) -> Data {
        var words = [UInt64](repeating: 0, count: count / 8 + 1)
        var state: UInt64 = 0x9E37_79B9_7F4A_7C15
        for index in words.indices {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            words[index] = state
        }
        return words.withUnsafeBytes { Data($0.prefix(count)) }
    }
}
