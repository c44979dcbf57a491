// SPDX-License-Identifier: MIT
import TargetKit
import _TargetKitStorage

/// The file with the record of one upload. It is locked while the upload is in progress, so that two calls or processes
/// can't continue the same upload.
///
/// Its methods access the disk, so they run on a queue.
final class UploadStore: Sendable {
    /// The age at which a state is removed, in seconds.
    private static let lifetime: TimeInterval = 30 * 86_400
    /// How long an expired state is stored, in seconds, because clocks differ.
    private static let expiryGrace: TimeInterval = 86_400
    /// The maximum number of attempts to take the lock after another call ends.
    private static let lockAttempts = 40
    private static let lockInterval = Duration.milliseconds(25)

    private let record: URL
    private let lock: URL
    private let descriptor: Int32
    private let queue = DispatchQueue(label: "TargetKit.upload")

    private init(_ record: URL, lock: URL, descriptor: Int32) {
        self.record = record
        self.lock = lock
        self.descriptor = descriptor
    }

    deinit { FileLock.release(descriptor) }

    /// Opens the state of an upload.
    ///
    /// - Parameter name: Identifies the upload.
    /// - Throws: ``UploadFailure/inProgress``, ``UploadFailure/noStateFolder(path:reason:)``, `CancellationError`.
    static func open(_ name: String, in folder: URL?) async throws -> UploadStore {
        let folder = folder ?? standardFolder
        let digest = SHA256Hasher.hexadecimal(of: name).prefix(32)
        for attempt in 0..<lockAttempts {
            if attempt > 0 { try await Task.sleep(for: lockInterval) }
            let store = try await onQueue { try open(String(digest), in: folder, isFirst: attempt == 0) }
            if let store { return store }
        }
        throw UploadFailure.inProgress
    }

    private static func open(_ digest: String, in folder: URL, isFirst: Bool) throws -> UploadStore? {
        do {
            try PrivateFolder.create(folder)
        } catch {
            throw UploadFailure.noStateFolder(path: folder.path, reason: (error as NSError).localizedDescription)
        }
        if isFirst { removeOldStates(in: folder) }
        return try locked(digest, in: folder)
    }

    /// Takes the lock, and returns `nil` if another call or process holds it.
    private static func locked(_ digest: String, in folder: URL) throws -> UploadStore? {
        let record = folder.appendingPathComponent(digest + recordSuffix)
        let lock = folder.appendingPathComponent(digest + lockSuffix)
        switch FileLock.open(lock, mode: 0o600) {
        case .failed(let code):
            throw UploadFailure.noStateFolder(path: folder.path, reason: String(cString: strerror(code)))
        case .unavailable: return nil
        case .locked(let descriptor, let status):
            // Closes the descriptor when it is released.
            let store = UploadStore(record, lock: lock, descriptor: descriptor)
            guard status.isRegular, status.isOwn, status.hasOneName else {
                throw UploadFailure.noStateFolder(path: folder.path, reason: "the lock file belongs to another user")
            }
            FileProtection.allowAccessWhileLocked(lock)
            return store
        }
    }

    /// The record; `nil` if there is none, or it is damaged.
    func read() async -> UploadRecord? {
        await queue.run { [record] in
            guard let status = FileStatus(of: record, followsLinks: false), status.isRegular, status.isOwn else {
                return nil
            }
            // The age of the state is measured from its last use.
            utimes(record.path, nil)
            return ((try? AtomicFile(record).read()) ?? nil).flatMap(UploadRecord.init)
        }
    }

    /// Stores a record durably. A failure doesn't end the upload, because the next call starts over without a record.
    func write(_ new: UploadRecord) async {
        await queue.run { self.store(new) }
    }

    /// Stores a record without waiting for the write. Later operations wait for it.
    func writeSoon(_ new: UploadRecord) {
        queue.async { self.store(new) }
    }

    private func store(_ new: UploadRecord) {
        guard let data = try? new.data else { return }
        if let status = FileStatus(of: record, followsLinks: false), !status.isRegular { unlink(record.path) }
        try? AtomicFile(record).write(data)
        FileProtection.allowAccessWhileLocked(record)
    }

    func remove() async {
        await queue.run { [record] in _ = unlink(record.path) }
    }

    /// Releases the lock, so that another call can continue the upload.
    func end() async {
        await queue.run { [self] in
            // Only under the lock, so that another call can rely on the file.
            if FileStatus(of: record, followsLinks: false) == nil { unlink(lock.path) }
            _ = flock(descriptor, LOCK_UN)
        }
    }
}

// MARK: - The folder

extension UploadStore {
    private static let recordSuffix = ".upload.json"
    private static let lockSuffix = ".upload.lock"

    /// A folder of this user, because other users must not read the states.
    private static var standardFolder: URL {
        PrivateFolder.standard(named: "TargetKit.uploads")
            ?? FileManager.default.temporaryDirectory
            .appendingPathComponent("TargetKit.uploads.\(UInt64.random(in: .min ... .max))")
    }

    private static func removeOldStates(in folder: URL) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [] {
            guard let suffix = [recordSuffix, lockSuffix].first(where: { name.hasSuffix($0) }) else { continue }
            let file = folder.appendingPathComponent(name)
            guard isOld(file) else { continue }
            // Skipped if a call holds the lock.
            guard let store = try? locked(String(name.dropLast(suffix.count)), in: folder) else { continue }
            unlink(store.record.path)
            unlink(store.lock.path)
        }
    }

    private static func isOld(_ file: URL) -> Bool {
        var status = stat()
        guard lstat(file.path, &status) == 0 else { return false }
        #if canImport(Darwin)
        let changed = TimeInterval(status.st_mtimespec.tv_sec)
        #else
        let changed = TimeInterval(status.st_mtim.tv_sec)
        #endif
        let now = Date().timeIntervalSince1970
        guard file.path.hasSuffix(recordSuffix) else {
            let record = file.path.dropLast(lockSuffix.count) + recordSuffix
            return now - changed > lifetime && access(String(record), F_OK) != 0
        }
        if now - changed > lifetime { return true }
        guard now - changed > expiryGrace,
            let record = ((try? AtomicFile(file).read()) ?? nil).flatMap(UploadRecord.init)
        else { return false }
        return record.expiry.map { TimeInterval($0) + expiryGrace < now } ?? false
    }

    private static func onQueue<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await DispatchQueue(label: "TargetKit.upload").run { Result { try work() } }.get()
    }
}
