// SPDX-License-Identifier: MIT
import Dispatch
import TargetKit

/// An HTTP Archive (HAR 1.2) that is complete after each entry, so that it is readable even after a crash.
///
/// ```swift
/// let file = HARFile(folder.appending(path: "traffic.har")) { problem in log(problem) }
/// let shop = Provider<Shop>(plugins: [HARPlugin(to: file, provider: "shop")])
/// let maps = Provider<Maps>(plugins: [HARPlugin(to: file, provider: "maps")])
/// ```
///
/// An existing archive of a `HARFile` is continued, for example by the next launch after a crash or an update, without an
/// entry that the crash cut short. Any other file is left unchanged, and nothing is recorded. When `traffic.har` reaches
/// the size limit, it is renamed to `traffic.1.har`, replacing the previous one, and a new file is started. Only its owner
/// can read the file.
///
/// All `HARFile` instances of a process with the same path share the file. A second process records nothing while the
/// first one uses the file.
///
/// Entries are encoded and written on a private queue, so the last milliseconds before a crash can be missing. Entries
/// that can't be written, for example because the disk is full, are dropped, as are entries that arrive while 1,000 are
/// waiting. The field `_dropped` of the next entry contains their number. Calls aren't affected.
public final class HARFile: Sendable {
    private let writer: HARWriter

    /// Creates an archive. The first entry opens its file.
    ///
    /// - Parameters:
    ///   - file: A file URL. Folders that don't exist are created.
    ///   - sizeLimit: The size in bytes at which a new file is started; default: 64 MiB. The first instance for a path
    ///     determines the limit.
    ///   - onFailure: Called on any thread, once for each series of failures, with the reason as a sentence; default
    ///     `nil`: writes the reason to standard error.
    public init(_ file: URL, sizeLimit: Int = 64 << 20, onFailure: (@Sendable (_ problem: String) -> Void)? = nil) {
        writer = HARWriter.shared(file, sizeLimit: sizeLimit) { problem in
            if let onFailure { return onFailure(problem) }
            try? FileHandle.standardError.write(contentsOf: Data("HARFile: \(problem)\n".utf8))
        }
    }

    /// The files with the entries, at most two, oldest first.
    public var files: [URL] { writer.files }

    /// Queues an entry to be written, or to replace the entry that it updates, and returns immediately.
    public func append(_ entry: HAREntry) {
        writer.append(entry)
    }

    /// Waits until all queued entries have been written.
    public func flush() async {
        await writer.flush()
    }
}

/// Writes the entries of all ``HARFile`` instances with the same path.
final class HARWriter: Sendable {
    private struct Known: Sendable {
        weak var writer: HARWriter?
    }

    private struct State: Sendable {
        var waitingCount = 0
        var droppedCount = 0
        var archive: HARArchive?
        /// Whether the current series of failures has been reported.
        var hasFailed = false
    }

    private static let known = Locked<[String: Known]>([:])
    private static let waitingLimit = 1_000

    private let file: URL
    private let sizeLimit: Int
    private let report: @Sendable (String) -> Void
    private let queue = DispatchQueue(label: "TargetKit.HARFile", qos: .utility)
    private let state = Locked(State())

    /// The shared writer of a path.
    static func shared(_ file: URL, sizeLimit: Int, report: @escaping @Sendable (String) -> Void) -> HARWriter {
        let path = file.standardizedFileURL.resolvingSymlinksInPath().path
        return known.withLock { known in
            if let writer = known[path]?.writer { return writer }
            known = known.filter { $0.value.writer != nil }
            let writer = HARWriter(file, sizeLimit: sizeLimit, report: report)
            known[path] = Known(writer: writer)
            return writer
        }
    }

    private init(_ file: URL, sizeLimit: Int, report: @escaping @Sendable (String) -> Void) {
        self.file = file
        self.sizeLimit = max(sizeLimit, 1024)
        self.report = report
    }

    var files: [URL] { [file.rotated, file].filter { FileManager.default.fileExists(atPath: $0.path) } }

    func append(_ entry: HAREntry) {
        let isAccepted = state.withLock { state in
            guard state.waitingCount < Self.waitingLimit else {
                state.droppedCount += 1
                return false
            }
            state.waitingCount += 1
            return true
        }
        guard isAccepted else { return }
        queue.async { [self] in
            let droppedCount = state.withLock { state in
                state.waitingCount -= 1
                return state.droppedCount
            }
            do throws(HARArchive.Failure) {
                let isWritten = try write(entry, droppedCount: droppedCount)
                state.withLock { state in
                    if isWritten { state.droppedCount -= droppedCount }
                    state.hasFailed = false
                }
            } catch {
                fail(error)
            }
        }
    }

    func flush() async {
        await queue.run {}
    }

    /// Writes an entry with the number of entries that were dropped before it. Returns `false` if it updates an entry
    /// that is in an older file.
    private func write(_ entry: HAREntry, droppedCount: Int) throws(HARArchive.Failure) -> Bool {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        guard var bytes = try? encoder.encode(entry) else { return false }
        if droppedCount > 0 {
            bytes.removeLast()
            bytes += Data(",\"_dropped\":\(droppedCount)}".utf8)
        }
        // An update stays in the file of its entry, which may grow beyond the limit by it.
        if entry.isUpdate {
            guard let archive = state.withLock(\.archive), archive.isAt(file) else { return false }
            return try archive.replace(bytes, id: entry.id, isOpen: entry.isOpen)
        }
        try openedArchive(for: bytes.count).append(bytes, id: entry.id, isOpen: entry.isOpen)
        return true
    }

    /// The open file. A new one is created if the file is full, or was moved or removed.
    private func openedArchive(for byteCount: Int) throws(HARArchive.Failure) -> HARArchive {
        if let archive = state.withLock(\.archive), archive.isAt(file) {
            guard archive.size + byteCount > sizeLimit, !archive.isEmpty else { return archive }
            // If the file can't be renamed, for example because a folder has that name, it continues to grow.
            guard rename(file.path, file.rotated.path) == 0 else { return archive }
        }
        state.withLock { $0.archive = nil }
        var archive = try HARArchive(file)
        if archive.size + byteCount > sizeLimit, !archive.isEmpty, rename(file.path, file.rotated.path) == 0 {
            archive = try HARArchive(file)
        }
        state.withLock { [archive] in $0.archive = archive }
        return archive
    }

    private func fail(_ failure: HARArchive.Failure) {
        let isFirst = state.withLock { state in
            defer { state.hasFailed = true }
            state.droppedCount += 1
            return !state.hasFailed
        }
        if isFirst { report("\(file.path) can't be written: \(failure.reason)") }
    }
}
