// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// Why the file of a ``FileCredentialStore`` cannot be used.
public struct CredentialFileError: Error, Sendable, Hashable {
    /// What is wrong.
    public enum Reason: Sendable, Hashable {
        /// The URL is not one of a file.
        case notAFile
        /// The folder of the file is not there, and could not be made; the text is the system's.
        case noFolder(String)
        /// The file is there, but cannot be read; the text is the system's.
        case unreadable(String)
        /// The file does not hold such a credential.
        case broken
        /// The credential cannot be encoded.
        case unencodable
        /// The file could not be written; the text is the system's.
        case unwritable(String)
        /// The file could not be removed; the text is the system's.
        case unremovable(String)
    }

    /// The file's path, or the URL that is none of a file.
    public let path: String
    /// What is wrong.
    public let reason: Reason
}

extension CredentialFileError: CustomStringConvertible, LocalizedError, DeveloperError {
    /// One line: the file, what is wrong and what to do; nothing of what the file holds.
    public var description: String { "credential file \(path): \(reason)" }

    /// The description, so that `localizedDescription` says what happened.
    public var errorDescription: String? { description }
}

extension CredentialFileError.Reason: CustomStringConvertible {
    /// What is wrong and what to do, in one line.
    public var description: String {
        switch self {
        case .notAFile: "it is no file URL; make one with URL(fileURLWithPath:)"
        case .noFolder(let why): "its folder could not be made (\(why)); name a file in a folder that may be written"
        case .unreadable(let why): "it cannot be read (\(why)); give its owner the right to, or name another file"
        case .broken: "it does not hold a credential of this kind; delete it, and the user signs in again"
        case .unencodable: "the credential cannot be encoded; look at its encode(to:)"
        case .unwritable(let why): "it could not be written (\(why)); what it holds is older than what is in use"
        case .unremovable(let why): "it could not be removed (\(why)); it holds a credential that is not used any more"
        }
    }
}
