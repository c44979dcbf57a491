// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// Keeps the credential in a file that only its owner can read: mode 0600, from its first byte on.
///
/// ```swift
/// let store = FileCredentialStore<OAuthCredential>(folder.appending(path: "session.json"))
/// ```
///
/// The file is JSON, and holds the secrets in plain text: where there is a keychain, use that. A change is written to a new file
/// beside it, brought to the disk, and put in its place, so that nobody ever sees half of it and a crash leaves the old or the
/// new one. What a killed process has left beside it goes with the next change. Folders that are missing are made, for the owner alone (0700). Every failure says in one line what is wrong with which file.
public struct FileCredentialStore<Credential: Codable & Sendable>: CredentialStore {
    private let file: URL

    /// A store in that file; neither it nor its folder need be there.
    public init(_ file: URL) {
        self.file = file
    }

    /// The credential of the file; `nil` when the file is not there.
    public func load() throws -> Credential? {
        let place = try place()
        let descriptor = open(place.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            // ENOTDIR: a part of the way is a file, so there is none of this name.
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw failure(.unreadable(systemMessage()))
        }
        defer { close(descriptor) }
        let data = try contents(of: descriptor)
        do {
            return try JSONDecoder().decode(Credential.self, from: data)
        } catch {
            // The decoder's own words may quote the file.
            throw failure(.broken)
        }
    }

    /// Writes a new file beside the old one, and puts it in its place.
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

    /// Removes the new files of processes that were killed before they had put them in their place.
    private func removeLeftovers(of place: URL) {
        let (folder, prefix) = (place.deletingLastPathComponent(), partPrefix(of: place))
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        where name.hasPrefix(prefix) && UInt64(name.dropFirst(prefix.count), radix: 36) != nil {
            unlink(folder.appendingPathComponent(name).path)
        }
    }

    /// Without this a crash may bring back the old name of a file. Not every file system knows how.
    private func bringToDisk(_ folder: URL) {
        let descriptor = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        _ = Self.synchronize(descriptor)
        close(descriptor)
    }

    /// Flushes a file to permanent storage; returns `false` on failure, with the reason in `errno`.
    ///
    /// On Apple's systems `fsync` leaves the data in the drive's cache, which does not survive a loss of power
    /// (fsync(2)); `F_FULLFSYNC` flushes that, too. Network volumes and some external ones support only `fsync`.
    private static func synchronize(_ descriptor: Int32) -> Bool {
        #if canImport(Darwin)
        if fcntl(descriptor, F_FULLFSYNC) == 0 { return true }
        #endif
        return fsync(descriptor) == 0
    }

    /// Where the file lies, at the end of every link: else a new file would take the place of a link.
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
        // The server has taken back the old token: what takes its place must not be an empty file after a crash.
        guard Self.synchronize(descriptor) else { throw failure(.unwritable(systemMessage())) }
    }

    private func systemMessage() -> String { String(cString: strerror(errno)) }

    private func failure(_ reason: CredentialFileError.Reason) -> CredentialFileError {
        CredentialFileError(path: file.isFileURL ? file.path : RedactedURL(file).description, reason: reason)
    }
}

/// Why the file of a ``FileCredentialStore`` cannot be used.
package struct CredentialFileError: Error, Sendable, Hashable {
    /// What is wrong.
    package enum Reason: Sendable, Hashable {
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
    package let path: String
    /// What is wrong.
    package let reason: Reason
}

extension CredentialFileError: DescribedError {
    /// One line: the file, what is wrong and what to do; nothing of what the file holds.
    package var description: String { "credential file \(path): \(reason)" }
}

extension CredentialFileError.Reason: CustomStringConvertible {
    /// What is wrong and what to do, in one line.
    package var description: String {
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
