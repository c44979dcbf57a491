// SPDX-License-Identifier: MIT
import Foundation

/// A file of this folder's `Files`, by the name that the README's table lists.
public struct Fixture: Sendable, Hashable {
    /// The file's name, its extension included.
    public let name: String

    /// A fixture of that name; nothing is read yet.
    public init(_ name: String) {
        self.name = name
    }

    /// Where the file lies.
    public var url: URL {
        Bundle.module.bundleURL.appendingPathComponent("Files").appendingPathComponent(name)
    }

    /// The file's bytes.
    ///
    /// - Throws: Foundation's error when there is no such file.
    public func data() throws -> Data {
        try Data(contentsOf: url)
    }

    /// The file's text.
    ///
    /// - Throws: Foundation's error when there is no such file, or it is not UTF-8.
    public func text() throws -> String {
        try String(contentsOf: url, encoding: .utf8)
    }
}
