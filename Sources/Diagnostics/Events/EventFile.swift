// SPDX-License-Identifier: MIT
import Dispatch
import TargetKit
import TargetKitPlugins

/// Writes events to a file of limited size, each as one line of JSON (JSON Lines).
///
/// ```swift
/// let file = EventFile(folder.appending(path: "network.jsonl"))
/// let provider = Provider<Orders>(plugins: [EventLogPlugin(output: file.append)])
/// await file.flush()
/// share(file.files)
/// ```
///
/// When the file reaches the limit, it is renamed to `network.1.jsonl`, replacing the previous one, and a new file is
/// started. The files therefore contain the most recent events, and use at most twice the limit. They remain after the
/// process ends, and only their owner can read them. Several processes may write to the same file.
///
/// Events are written on a private queue. Events that can't be written, for example because the disk is full, are
/// dropped, as are events that arrive while 10,000 are waiting.
public final class EventFile: Sendable {
    private struct State: Sendable {
        var waitingCount = 0
        var droppedCount = 0
    }

    /// The maximum number of unwritten events.
    private static let waitingLimit = 10_000

    private let file: URL
    private let sizeLimit: Int
    private let queue = DispatchQueue(label: "TargetKit.EventFile", qos: .utility)
    private let state = Locked(State())

    /// Creates a writer. The file and its folder are created with the first event.
    ///
    /// - Parameters:
    ///   - file: A file URL.
    ///   - sizeLimit: The size in bytes at which a new file is started; default: 1 MiB.
    public init(_ file: URL, sizeLimit: Int = 1 << 20) {
        self.file = file
        self.sizeLimit = sizeLimit
    }

    /// The files with the events, at most two, oldest first.
    public var files: [URL] { [file.rotated, file].filter { FileManager.default.fileExists(atPath: $0.path) } }

    /// Queues an event to be written, and returns immediately.
    public func append(_ event: CallEvent) {
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
                defer { state.droppedCount = 0 }
                state.waitingCount -= 1
                return state.droppedCount
            }
            if droppedCount > 0 { write(Data("{\"dropped\":\(droppedCount)}\n".utf8)) }
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            if let line = try? encoder.encode(event) { write(line + Data("\n".utf8)) }
        }
    }

    /// Waits until all queued events have been written.
    public func flush() async {
        await queue.run {}
    }

    private func write(_ line: Data) {
        guard file.isFileURL else { return }
        // Opened for each line, because the file may have been moved or removed.
        guard let handle = AppendedFile(file.path) ?? AppendedFile(creatingFolderOf: file) else { return }
        guard handle.size > 0, handle.size + line.count > sizeLimit else { return handle.append(line) }
        handle.whileLocked {
            // Another process may have renamed it, and must not lose its new file.
            guard let current = AppendedFile(file.path), current.size + line.count > sizeLimit else { return }
            // If the file can't be renamed, for example because a folder has that name, the older events are dropped.
            if rename(file.path, file.rotated.path) != 0 { current.removeAll() }
        }
        AppendedFile(file.path)?.append(line)
    }
}

/// An open file to which lines are appended.
private final class AppendedFile {
    private let descriptor: Int32
    let size: Int

    convenience init?(creatingFolderOf file: URL) {
        try? PrivateFolder.create(file.deletingLastPathComponent())
        self.init(file.path)
    }

    init?(_ path: String) {
        // Doesn't follow a link that another process created, and doesn't wait for the reader of a pipe.
        let flags = O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
        let descriptor = open(path, flags, 0o600)
        guard descriptor >= 0 else { return nil }
        // -1 if it isn't a file, for example a pipe.
        let size = Int(clamping: lseek(descriptor, 0, SEEK_END))
        guard size >= 0 else {
            close(descriptor)
            return nil
        }
        self.descriptor = descriptor
        self.size = size
    }

    deinit {
        close(descriptor)
    }

    /// Performs work while this process holds the lock of the file.
    func whileLocked(_ work: () -> Void) {
        while flock(descriptor, LOCK_EX) != 0, errno == EINTR {}
        work()
        _ = flock(descriptor, LOCK_UN)
    }

    func removeAll() {
        ftruncate(descriptor, 0)
    }

    /// Appends a line. First ends a line that a crash or a full disk truncated.
    func append(_ line: Data) {
        var last: UInt8 = 0x0A
        if size > 0 { pread(descriptor, &last, 1, off_t(size - 1)) }
        let bytes = last == 0x0A ? line : Data("\n".utf8) + line
        _ = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    }
}
