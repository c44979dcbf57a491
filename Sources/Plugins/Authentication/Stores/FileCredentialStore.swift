// SPDX-License-Identifier: MIT
import TargetKit
import _TargetKitFiles

/// Stores the credential in a file that only its owner can read (mode 0600).
///
/// ```swift
/// let store = FileCredentialStore<OAuthCredential>(folder.appending(path: "session.json"))
/// ```
///
/// The file contains the secrets in plain text and the identifier of the session, as JSON. Use the keychain on systems
/// that have one. Files that contain only a credential can also be read. Changes are atomic: each is written to a new
/// file in the same folder, flushed to disk, and renamed, so that after a crash, the file contains either the old or
/// the new credential. Missing folders are created with mode 0700.
///
/// Several processes can use the same file. While one of them refreshes the credential, the others wait, using a file
/// named `session.json.lock` in the same folder.
public struct FileCredentialStore<Credential: Codable & Sendable & Equatable>: CredentialStore {
    private let file: URL
    private let lock: RefreshLock

    /// Creates a store for a file. Neither the file nor its folder need to exist.
    public init(_ file: URL) {
        self.init(file, clock: ContinuousClock())
    }

    /// Creates a store that waits for other processes with a test's clock.
    package init(_ file: URL, clock: any Clock<Duration>) {
        self.file = file
        lock = RefreshLock(clock)
    }

    /// The credential in the file; `nil` if there is no file.
    public func load() async throws -> Credential? {
        try await loadSession()?.credential
    }

    /// The credential in the file, with the identifier of its session; `nil` if there is no file.
    public func loadSession() async throws -> (credential: Credential, session: String?)? {
        let data: Data?
        do { data = try atomicFile.read() } catch { throw failure(error) }
        guard let data else { return nil }
        do {
            return try StoredSession<Credential>.read(data)
        } catch {
            // The decoder's error may quote the file.
            throw failure(.broken)
        }
    }

    /// Replaces the file with a new one, without the identifier of a session.
    public func save(_ credential: Credential) async throws {
        try write(credential)
    }

    /// Replaces the file with a new one.
    public func save(_ credential: Credential, session: String) async throws {
        try write(StoredSession(credential: credential, session: session))
    }

    private func write(_ contents: some Encodable) throws {
        guard let data = try? JSONEncoder().encode(contents) else { throw failure(.unencodable) }
        do { try atomicFile.write(data) } catch { throw failure(error) }
    }

    /// Removes the file.
    public func clear() async throws {
        do { try atomicFile.remove() } catch { throw failure(error) }
    }

    /// Runs the refresh while no other process refreshes the credential in this file. It waits up to one minute for a
    /// running process, or ten seconds for a suspended one, and then runs the refresh in any case.
    public func withRefreshLock<Value: Sendable>(
        _ refresh: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard file.isFileURL else { return try await refresh() }
        let place = file.resolvingSymlinksInPath().path + ".lock"
        let descriptor = open(place, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return try await refresh() }
        // The lock is also released when the process ends.
        defer { FileLock.release(descriptor) }
        // EINVAL and ENOTSUP indicate a folder or file system without locks.
        let isTaken = try await lock.wait {
            FileLock.take(descriptor) || errno != EWOULDBLOCK
        } sign: {
            Self.sign(in: descriptor)
        }
        guard isTaken else { return try await refresh() }
        return try await lock.showingSigns(
            { sign in _ = withUnsafeBytes(of: sign) { pwrite(descriptor, $0.baseAddress, $0.count, 0) } },
            while: refresh
        )
    }

    private static func sign(in descriptor: Int32) -> UInt64? {
        var sign: UInt64 = 0
        return pread(descriptor, &sign, MemoryLayout.size(ofValue: sign), 0) > 0 ? sign : nil
    }

    private var atomicFile: AtomicFile { AtomicFile(file, createsFolder: true) }

    private func failure(_ failure: AtomicFile.Failure) -> CredentialFileError {
        switch failure.operation {
        case .locate: self.failure(.notAFile)
        case .createFolder: self.failure(.noFolder(failure.message))
        case .read: self.failure(.unreadable(failure.message))
        case .write: self.failure(.unwritable(failure.message))
        case .remove: self.failure(.unremovable(failure.message))
        }
    }

    private func failure(_ reason: CredentialFileError.Reason) -> CredentialFileError {
        CredentialFileError(path: file.isFileURL ? file.path : RedactedURL(file).description, reason: reason)
    }
}

/// The reason why the file of a ``FileCredentialStore`` can't be used.
package struct CredentialFileError: Error, Sendable, Hashable {
    /// The problem with the file.
    package enum Reason: Sendable, Hashable {
        /// The URL isn't a file URL.
        case notAFile
        /// The folder of the file couldn't be created. The text is the system's message.
        case noFolder(String)
        /// The file can't be read. The text is the system's message.
        case unreadable(String)
        /// The file doesn't contain a credential of this type.
        case broken
        /// The credential can't be encoded.
        case unencodable
        /// The file couldn't be written. The text is the system's message.
        case unwritable(String)
        /// The file couldn't be removed. The text is the system's message.
        case unremovable(String)
    }

    /// The file's path, or the URL that isn't a file URL.
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
        case .noFolder(let why): "the folder couldn't be created (\(why)); use a folder that the app may write to"
        case .unreadable(let why): "the file can't be read (\(why)); check its permissions, or use another file"
        case .broken: "the file doesn't contain a valid credential; delete it, and let the user sign in again"
        case .unencodable: "the credential can't be encoded; check its encode(to:)"
        case .unwritable(let why):
            "the file couldn't be written (\(why)); its credential is older than the one in use"
        case .unremovable(let why):
            "the file couldn't be removed (\(why)); it contains a credential that is no longer used"
        }
    }
}
