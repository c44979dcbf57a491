// SPDX-License-Identifier: MIT
import TargetKit

/// The open file of an archive. Each change replaces the end of the file in a single write, so the file is always
/// complete.
///
/// It is used on one queue.
final class HARArchive: Sendable {
    /// The reason why an archive can't be written.
    struct Failure: Error {
        let reason: String

        init(_ reason: String) {
            self.reason = reason
        }

        /// Creates the failure of the last system call.
        init(of operation: String) {
            reason = "\(operation): \(String(cString: strerror(errno)))"
        }
    }

    /// An entry that a later one can replace.
    private struct Place: Sendable {
        let id: String
        var start: Int
        var count: Int
        var isOpen: Bool
        var end: Int { start + count }
    }

    private struct State: Sendable {
        var size: Int
        var isEmpty: Bool
        var places: [Place] = []
    }

    /// The head without the version of TargetKit and the end. Another version's archive is continued, too.
    private static let headStart = Data(#"{"log":{"version":"1.2","creator":{"name":"TargetKit","version":""#.utf8)
    private static let headEnd = Data(#""},"entries":["#.utf8)
    private static let head = headStart + Data(PackageVersion.text.utf8) + headEnd
    private static let longestVersion = 64
    private static let tail = Data("\n]}}\n".utf8)
    /// The maximum number of replaceable entries, besides open streams.
    private static let placeLimit = 1_000

    private let descriptor: Int32
    private let state: Locked<State>

    /// Opens or creates the file.
    init(_ file: URL) throws(Failure) {
        guard file.isFileURL else { throw Failure("it isn't a file URL") }
        var opened = Self.open(file.path)
        if opened < 0, errno == ENOENT {
            try? PrivateFolder.create(file.deletingLastPathComponent())
            opened = Self.open(file.path)
        }
        guard opened >= 0 else { throw Failure(of: "open") }
        do throws(Failure) {
            state = Locked(try Self.begin(opened))
        } catch {
            FileLock.release(opened)
            throw error
        }
        descriptor = opened
        FileProtection.allowAccessWhileLocked(file)
    }

    deinit {
        FileLock.release(descriptor)
    }

    private static func open(_ path: String) -> Int32 {
        // Doesn't follow a link that another process created, and doesn't wait for the reader of a pipe.
        Foundation.open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
    }

    /// Locks the file, and writes the head of a new archive.
    private static func begin(_ descriptor: Int32) throws(Failure) -> State {
        guard let status = FileStatus(of: descriptor), status.isRegular else {
            throw Failure("it isn't a regular file")
        }
        guard FileLock.take(descriptor) else {
            throw Failure(
                errno == EWOULDBLOCK ? "another process is recording into it; use another file" : "the lock failed"
            )
        }
        let size = Int(clamping: FileStatus(of: descriptor)?.size ?? 0)
        guard size > 0 else {
            let empty = head + tail
            guard write(empty, to: descriptor, at: 0) else {
                defer { ftruncate(descriptor, 0) }
                throw Failure(of: "write")
            }
            return State(size: empty.count, isEmpty: true)
        }
        let start = read(descriptor, from: 0, count: min(size, head.count + longestVersion)) ?? Data()
        guard start.starts(with: headStart), let headEnd = start.range(of: headEnd)?.upperBound else {
            throw Failure("the file isn't an archive written by HARFile; move it, or use another file")
        }
        let isWhole = read(descriptor, from: size - tail.count, count: tail.count) == tail
        let archive = isWhole ? size : try repair(descriptor, head: headEnd, size: size)
        return State(size: archive, isEmpty: archive == headEnd + tail.count)
    }

    /// Removes an incomplete entry at the end, which remains if the process is killed during a write. Returns the size.
    private static func repair(_ descriptor: Int32, head: Int, size: Int) throws(Failure) -> Int {
        guard let bytes = read(descriptor, from: head, count: size - head) else { throw Failure(of: "read") }
        // An entry has no line breaks. One that is followed by a separator is complete.
        let end = bytes.range(of: Data(",\n".utf8), options: .backwards)?.lowerBound ?? 0
        guard write(tail, to: descriptor, at: head + end) else { throw Failure(of: "write") }
        ftruncate(descriptor, off_t(head + end + tail.count))
        return head + end + tail.count
    }

    var size: Int { state.withLock(\.size) }
    /// Whether the archive has no entries.
    var isEmpty: Bool { state.withLock(\.isEmpty) }

    /// Whether the file is still at its path.
    func isAt(_ file: URL) -> Bool {
        guard let own = FileStatus(of: descriptor), let named = FileStatus(of: file.path) else { return false }
        return own.isSameFile(as: named)
    }

    /// Adds an entry.
    func append(_ entry: Data, id: String, isOpen: Bool) throws(Failure) {
        let (size, isEmpty) = state.withLock { ($0.size, $0.isEmpty) }
        let separator = Data((isEmpty ? "\n" : ",\n").utf8)
        let start = size - Self.tail.count
        try replaceEnd(from: start, with: separator + entry + Self.tail, restoring: Self.tail)
        state.withLock { state in
            let place = Place(id: id, start: start + separator.count, count: entry.count, isOpen: isOpen)
            state.places.append(place)
            state.isEmpty = false
            if state.places.count > Self.placeLimit, let index = state.places.firstIndex(where: { !$0.isOpen }) {
                state.places.remove(at: index)
            }
        }
    }

    /// Replaces an entry. Returns `false` if the entry is in an older file.
    func replace(_ entry: Data, id: String, isOpen: Bool) throws(Failure) -> Bool {
        guard let place = state.withLock({ $0.places.last { $0.id == id } }) else { return false }
        guard let rest = Self.read(descriptor, from: place.end, count: size - place.end),
            let old = Self.read(descriptor, from: place.start, count: place.count)
        else { throw Failure(of: "read") }
        try replaceEnd(from: place.start, with: entry + rest, restoring: old + rest)
        state.withLock { state in
            for index in state.places.indices where state.places[index].start > place.start {
                state.places[index].start += entry.count - place.count
            }
            for index in state.places.indices where state.places[index].id == id {
                state.places[index].count = entry.count
                state.places[index].isOpen = isOpen
            }
        }
        return true
    }

    /// Replaces the bytes after a position. If that fails, restores the previous bytes.
    private func replaceEnd(from start: Int, with bytes: Data, restoring old: Data) throws(Failure) {
        guard Self.write(bytes, to: descriptor, at: start) else {
            let failure = Failure(of: "write")
            // The blocks of the old bytes are still allocated.
            _ = Self.write(old, to: descriptor, at: start)
            ftruncate(descriptor, off_t(start + old.count))
            throw failure
        }
        let size = start + bytes.count
        if size < self.size { ftruncate(descriptor, off_t(size)) }
        state.withLock { $0.size = size }
    }

    private static func write(_ bytes: Data, to descriptor: Int32, at start: Int) -> Bool {
        bytes.withUnsafeBytes { bytes in
            var count = 0
            while count < bytes.count {
                let written = pwrite(
                    descriptor,
                    bytes.baseAddress?.advanced(by: count),
                    bytes.count - count,
                    off_t(start + count)
                )
                if written < 0, errno == EINTR { continue }
                guard written > 0 else { return false }
                count += written
            }
            return true
        }
    }

    private static func read(_ descriptor: Int32, from start: Int, count: Int) -> Data? {
        guard start >= 0, count >= 0 else { return nil }
        var bytes = Data(count: count)
        let size = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, count, off_t(start)) }
        return size == count ? bytes : nil
    }
}
