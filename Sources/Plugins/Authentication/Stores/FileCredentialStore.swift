// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// Keeps the credential in a file that only its owner can read (mode 0600).
///
/// ```swift
/// let store = FileCredentialStore<OAuthCredential>(folder.appending(path: "session.json"))
/// ```
///
/// The file is JSON and contains the secrets in plain text; use the keychain on systems that have one. Changes are
/// atomic: each is written to a new file beside it, flushed to the disk, and renamed, so that a crash leaves the old or
/// the new credential. A file that a killed process has left there is removed with the next change. Missing folders are
/// created with mode 0700.
public struct FileCredentialStore<Credential: Codable & Sendable>: CredentialStore {
    private let file: URL

    /// Creates a store for a file. Neither the file nor its folder need to exist.
    public init(_ file: URL) {
        self.file = file
    }

    /// The credential in the file; `nil` if there is no file.
    public func load() throws -> Credential? {
        let place = try place()
        let descriptor = open(place.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            // ENOTDIR: a part of the path is a file.
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw failure(.unreadable(systemMessage()))
        }
        defer { close(descriptor) }
        let data = try contents(of: descriptor)
        do {
            return try JSONDecoder().decode(Credential.self, from: data)
        } catch {
            // The decoder's error may quote the file.
            throw failure(.broken)
        }
    }

    /// Writes a new file, which replaces the old one.
    public func save(_ credential: Credential) throws {
        let place = try place()
        guard let data = try? JSONEncoder().encode(credential) else { throw failure(.unencodable) }
        let folder = place.deletingLastPathComponent()
        do {
            try FileManager.default.createDirectory(
                at: folder,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            throw failure(.noFolder((error as NSError).localizedDescription))
        }
        let number = String(UInt64.random(in: .min ... .max), radix: 36)
        let part = folder.appendingPathComponent(partPrefix(of: place) + number).path
        do {
            try fill(part, with: data)
            guard rename(part, place.path) == 0 else { throw failure(.unwritable(systemMessage())) }
        } catch {
            unlink(part)
            throw error
        }
        removeLeftovers(of: place)
        bringToDisk(folder)
    }

    /// Removes the file.
    public func clear() throws {
        let place = try place()
        removeLeftovers(of: place)
        guard unlink(place.path) == 0 || errno == ENOENT || errno == ENOTDIR else {
            throw failure(.unremovable(systemMessage()))
        }
        bringToDisk(place.deletingLastPathComponent())
    }

    /// How the names of new files begin; a number follows.
    private func partPrefix(of place: URL) -> String { ".\(place.lastPathComponent).part-" }

    /// Removes the new files of processes that were killed before they renamed them.
    private func removeLeftovers(of place: URL) {
        let (folder, prefix) = (place.deletingLastPathComponent(), partPrefix(of: place))
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        where name.hasPrefix(prefix) && UInt64(name.dropFirst(prefix.count), radix: 36) != nil {
            unlink(folder.appendingPathComponent(name).path)
        }
    }

    /// Without it a crash may undo a rename. Not every file system supports it.
    private func bringToDisk(_ folder: URL) {
        let descriptor = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        _ = Self.synchronize(descriptor)
        close(descriptor)
    }

    /// Flushes a file to permanent storage; returns `false` on failure, with the reason in `errno`.
    ///
    /// On Apple platforms `fsync` leaves the data in the drive's cache, which does not survive a loss of power
    /// (fsync(2)); `F_FULLFSYNC` flushes that, too. Network volumes and some external ones support only `fsync`.
    private static func synchronize(_ descriptor: Int32) -> Bool {
        #if canImport(Darwin)
        if fcntl(descriptor, F_FULLFSYNC) == 0 { return true }
        #endif
        return fsync(descriptor) == 0
    }

    /// The file with all links resolved: otherwise the new file would replace a link.
    private func place() throws(CredentialFileError) -> URL {
        guard file.isFileURL else { throw failure(.notAFile) }
        return file.resolvingSymlinksInPath()
    }

    private func contents(of descriptor: Int32) throws(CredentialFileError) -> Data {
        var data = Data()
        var piece = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(descriptor, &piece, piece.count)
            if count == 0 { return data }
            if count > 0 { data.append(contentsOf: piece[..<count]) }
            if count < 0, errno != EINTR { throw failure(.unreadable(systemMessage())) }
        }
    }

    private func fill(_ path: String, with data: Data) throws(CredentialFileError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(.unwritable(systemMessage())) }
        defer { close(descriptor) }
        var rest = data[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if written < 0, errno != EINTR { throw failure(.unwritable(systemMessage())) }
            rest = rest.dropFirst(max(written, 0))
        }
        // The server has revoked the old token: the new file must not be empty after a crash.
        guard Self.synchronize(descriptor) else { throw failure(.unwritable(systemMessage())) }
    }

    private func systemMessage() -> String { String(cString: strerror(errno)) }

    private func failure(_ reason: CredentialFileError.Reason) -> CredentialFileError {
        CredentialFileError(path: file.isFileURL ? file.path : RedactedURL(file).description, reason: reason)
    }
}

/// Why the file of a ``FileCredentialStore`` cannot be used.
package struct CredentialFileError: Error, Sendable, Hashable {
    /// The problem with the file.
    package enum Reason: Sendable, Hashable {
        /// The URL is not a file URL.
        case notAFile
        /// The folder of the file could not be created; the text is the system's.
        case noFolder(String)
        /// The file cannot be read; the text is the system's.
        case unreadable(String)
        /// The file does not contain such a credential.
        case broken
        /// The credential cannot be encoded.
        case unencodable
        /// The file could not be written; the text is the system's.
        case unwritable(String)
        /// The file could not be removed; the text is the system's.
        case unremovable(String)
    }

    /// The file's path, or the URL that is not a file URL.
    package let path: String
    /// The problem.
    package let reason: Reason
}

extension CredentialFileError: DescribedError {
    /// The file, the problem and its solution in one line, without the contents of the file.
    package var redactedDescription: String { "credential file \(path): \(reason)" }
}

extension CredentialFileError.Reason: CustomStringConvertible {
    /// The problem and its solution in one line.
    package var description: String {
        switch self {
        case .notAFile: "not a file URL; create one with URL(filePath:)"
        case .noFolder(let why): "the folder could not be created (\(why)); use a folder that the app may write to"
        case .unreadable(let why): "the file cannot be read (\(why)); check its permissions, or use another file"
        case .broken: "the file does not contain such a credential; delete it, and let the user sign in again"
        case .unencodable: "the credential cannot be encoded; check its encode(to:)"
        case .unwritable(let why):
            "the file could not be written (\(why)); it contains an older credential than the one in use"
        case .unremovable(let why):
            "the file could not be removed (\(why)); it contains a credential that is no longer used"
        }
    }
}
