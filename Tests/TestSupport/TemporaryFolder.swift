// SPDX-License-Identifier: MIT
import Foundation

/// An empty folder, which is removed with its last reference.
public final class TemporaryFolder: Sendable {
    /// The URL of the folder.
    public let url: URL

    /// Creates the folder.
    ///
    /// - Throws: Foundation's error if it cannot be created.
    public init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("targetkit-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    /// The names of the files in the folder.
    public var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? [] }

    /// Creates a file in the folder.
    ///
    /// - Throws: Foundation's error if it cannot be written.
    public func file(_ name: String, _ bytes: Data = Data()) throws -> URL {
        let file = url.appendingPathComponent(name)
        try bytes.write(to: file)
        return file
    }
}
