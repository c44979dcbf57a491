// SPDX-License-Identifier: MIT
import Foundation

/// Why the file of a ``CookieStore`` cannot be used.
public struct CookieFileError: Error, Sendable, Hashable {
    /// What is wrong.
    public enum Reason: Sendable, Hashable {
        /// The URL is not one of a file.
        case notAFile
        /// The folder of the file is not there.
        case noFolder
        /// The file is there, but cannot be read.
        case unreadable
        /// The file holds something else than cookies; the text says where, and holds none of their values.
        case broken(String)
        /// The file could not be written; the text is the system's.
        case unwritable(String)
    }

    /// The file's path, or the URL that is none of a file.
    public let path: String
    /// What is wrong.
    public let reason: Reason
}

extension CookieFileError: CustomStringConvertible, LocalizedError, DeveloperError {
    /// One line: the file, what is wrong and what to do.
    public var description: String { "cookie file \(path): \(reason)" }

    /// The description, so that `localizedDescription` says what happened.
    public var errorDescription: String? { description }
}

extension CookieFileError.Reason: CustomStringConvertible {
    /// What is wrong and what to do, in one line.
    public var description: String {
        switch self {
        case .notAFile: "it is no file URL; make one with URL(fileURLWithPath:)"
        case .noFolder: "its folder is not there; create it first"
        case .unreadable: "it cannot be read; give its owner the right to, or name another file"
        case .broken(let why):
            "it does not hold cookies (\(why)); delete it to start without cookies, or name another file"
        case .unwritable(let why): "it could not be written (\(why)); its cookies are older than those in memory"
        }
    }
}
