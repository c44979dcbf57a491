// SPDX-License-Identifier: MIT
import Foundation

/// An empty folder of its own, which goes with its last reference.
public final class TemporaryFolder: Sendable {
    /// Where it lies.
    public let url: URL

    /// Makes the folder.
    ///
    /// - Throws: Foundation's error when it cannot be made.
    public init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("targetkit-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    /// The names of what lies in it.
    public var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? [] }

    /// A file of those bytes in it.
    ///
    /// - Throws: Foundation's error when it cannot be written.
    public func file(_ name: String, _ bytes: Data = Data()) throws -> URL {
        let file = url.appendingPathComponent(name)
        try bytes.write(to: file)
        return file
    }
}
