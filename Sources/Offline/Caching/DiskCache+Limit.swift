// SPDX-License-Identifier: MIT
import TargetKit

/// The approximate number of bytes on disk: the size when the files were last counted, and the bytes written since.
struct DiskUsage: Sendable {
    /// `nil` until the files have been counted.
    var counted: Int?
    var written = 0
    var isChecking = false

    /// Whether to count the files. Because other processes also write, this is due at least after each eighth of the
    /// limit.
    mutating func isCheckDue(limit: Int) -> Bool {
        guard !isChecking, let counted else { return false }
        return counted + written > limit || written > limit / 8
    }
}

extension DiskCache {
    private struct StoredFile {
        let folder: Int
        let name: String
        let size: Int
        let use: Double
    }

    /// Counts the files later, removes temporary files of killed processes, and removes the least recently used
    /// responses above the limit.
    func maintain() {
        let begins = usage.withLock { usage in
            defer { usage.isChecking = true }
            return !usage.isChecking
        }
        guard begins else { return }
        maintenanceQueue.async { [self] in
            layout.removeLeftovers()
            // Repeated if enough bytes were written during the check.
            repeat { checkLimit() } while usage.withLock { $0.isCheckDue(limit: limit) }
        }
    }

    /// The number of bytes of all files.
    func size() async -> Int {
        await maintenanceQueue.run { self.files().reduce(0) { $0 + $1.size } }
    }

    private func checkLimit() {
        let before = usage.withLock(\.written)
        let files = files()
        var size = files.reduce(0) { $0 + $1.size }
        var removed = 0
        if size > limit {
            for file in files.sorted(by: { $0.use < $1.use }) where size > limit - limit / 8 {
                size -= file.size
                if CacheEntryFile.remove(layout.path(file.folder, name: file.name)) { removed += 1 }
            }
        }
        usage.withLock { [size] usage in
            usage.counted = size
            usage.written -= before
            usage.isChecking = false
        }
        if removed > 0 { report(.removed(count: removed)) }
    }

    private func files() -> [StoredFile] {
        var files: [StoredFile] = []
        for folder in 0..<Self.folderCount {
            layout.forEachResponse(in: folder) { name, status in
                guard let status = status(), status.isOwn else { return }
                files.append(
                    StoredFile(
                        folder: folder,
                        name: name(),
                        size: Int(clamping: status.size),
                        use: status.modificationTime
                    )
                )
            }
        }
        return files
    }

    /// Removes the responses that a closure selects by their heads, except those of exchanges that began after the
    /// removal.
    ///
    /// - Parameter number: The number of the removal.
    /// - Returns: Their number.
    func remove(number: Int, where shouldBeRemoved: @escaping @Sendable (ResponseCache.Entry) -> Bool) async -> Int {
        var count = 0
        // One folder at a time, so that calls don't wait for all of them.
        for folder in 0..<Self.folderCount {
            count += await onQueue(ofFolder: folder) { [self] in
                let paths = layout.names(in: folder).map { layout.path(folder, name: $0) }
                return paths.filter { path in
                    if let last = kept.withLock({ $0[path] }), last >= number { return false }
                    return (CacheFile.entry(at: path).map(shouldBeRemoved) ?? true) && removeFile(path)
                }.count
            }
        }
        return count
    }
}
