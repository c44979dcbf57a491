// SPDX-License-Identifier: MIT
import TargetKit

/// The responses in a folder, with one file for each.
///
/// A file's name consists of digests of the URL, user and variant, and of the response's recency. A lookup lists one of
/// 1,024 folders. There is no index that could become inconsistent, and opening the cache reads no files. A file is
/// written under a temporary name and then renamed, and its checksum detects damage. Therefore any number of processes
/// can use the folder, and each can end at any time. Files aren't flushed, so incomplete files after a power failure
/// count as missing.
///
/// Its methods access the disk, so they run on the queues of ``onQueue(of:_:)``.
final class DiskCache: Sendable {
    /// The maximum number of responses for one URL and user.
    static let variantLimit = 16
    static let folderCount = 1024
    /// The interval at which the use of a file updates its modification time, in seconds.
    static let useInterval: Double = 60

    let layout: DiskCacheLayout
    let salt: CacheSalt
    let limit: Int
    private let usesHeuristics: Bool
    private let queues = (0..<4).map { DispatchQueue(label: "TargetKit.cache.\($0)") }
    let maintenanceQueue = DispatchQueue(label: "TargetKit.cache.maintenance", qos: .utility)
    let usage = Locked(DiskUsage())
    let report: @Sendable (ResponseCache.Event) -> Void
    /// The files that were written during removals, with the number of the last removal before their exchanges.
    let kept = Locked<[String: Int]>([:])
    /// Whether a response couldn't be removed. The folder is then no longer used, so that the response can't reappear.
    private let isClosed = Locked(false)

    /// Opens a folder, and creates missing files and folders.
    init(
        _ folder: URL,
        limit: Int,
        usesHeuristics: Bool,
        report: @escaping @Sendable (ResponseCache.Event) -> Void
    ) throws(CacheFailure) {
        layout = DiskCacheLayout(folder)
        salt = try layout.open()
        self.limit = max(0, limit)
        self.usesHeuristics = usesHeuristics
        self.report = report
        maintain()
    }

    /// Runs work on the queue of a URL's files. Work for the same URL runs in order.
    func onQueue<Value: Sendable>(of url: String, work: @escaping @Sendable () -> Value) async -> Value {
        await queue(of: url).run(work)
    }

    /// Starts work on the queue of a URL's files.
    func begin(for url: String, work: @escaping @Sendable () -> Void) {
        queue(of: url).async(execute: work)
    }

    /// Runs work on each queue, after the work that is already queued.
    func onEachQueue<Value: Sendable>(_ work: @escaping @Sendable (_ folders: [Int]) -> Value) async -> [Value] {
        var values: [Value] = []
        for (index, queue) in queues.enumerated() {
            let folders = (0..<Self.folderCount).filter { $0 % queues.count == index }
            values.append(await queue.run { work(folders) })
        }
        return values
    }

    /// Runs work on the queue of a folder's files.
    func onQueue<Value: Sendable>(ofFolder folder: Int, work: @escaping @Sendable () -> Value) async -> Value {
        await queues[folder % queues.count].run(work)
    }

    private func queue(of url: String) -> DispatchQueue {
        queues[layout.folderNumber(of: salt.digest(of: [url])) % queues.count]
    }

    // MARK: - Files

    /// The most recent response for a key that is selected by a request's fields.
    ///
    /// - Parameters:
    ///   - place: The place of the key's files.
    ///   - recency: The response must be more recent than this one; default `nil`: any.
    func response(
        for key: CacheKey,
        at place: Place,
        fields: [String: String],
        after recency: CacheRecency? = nil
    ) -> CachedResponse? {
        if isClosed.withLock(\.self) { return nil }
        let (folder, prefix) = place
        let names = layout.names(in: folder, startingWith: prefix)
        for name in names.sorted(by: { DiskCacheLayout.recency(of: $0) > DiskCacheLayout.recency(of: $1) }) {
            if let recency, DiskCacheLayout.recency(of: name) <= recency.text[...] { return nil }
            if let response = read(layout.path(folder, name: name)), response.key == key,
                response.variant.matches(fields, salt: salt)
            {
                return response
            }
        }
        return nil
    }

    /// Notes that a response was used.
    func noteUse(of response: CachedResponse) {
        let (folder, prefix) = place(of: response.key)
        CacheEntryFile.noteUse(layout.path(folder, name: prefix + name(of: response)))
    }

    /// Reads a file, and removes it if it isn't a complete response.
    private func read(_ path: String) -> CachedResponse? {
        switch CacheEntryFile.contents(of: path, noteUseAfter: Self.useInterval) {
        case .contents(let bytes):
            let response = bytes.withUnsafeBytes { CacheFile.response(in: $0, usesHeuristics: usesHeuristics) }
            if response == nil { CacheEntryFile.remove(path) }
            return response
        case .notAFile:
            CacheEntryFile.remove(path)
            return nil
        case .unavailable: return nil
        }
    }

    /// The result of writing a response.
    enum Writing: Sendable {
        case written
        /// A more recent response with the same key and variant exists.
        case isOlder
        /// The folder was replaced by one with another salt.
        case folderWasReplaced
    }

    /// Writes a response, replacing the one with the same key and variant.
    ///
    /// The file's name ends with the response's recency. If several processes write at the same time, the most recent
    /// of their files is read, so no lock is necessary.
    ///
    /// - Parameter number: The last removal that doesn't affect the response, while a removal is in progress.
    func write(_ response: CachedResponse, keptFrom number: Int? = nil) throws(CacheFailure) -> Writing {
        if isClosed.withLock(\.self) { return .written }
        guard try layout.open(salt).bytes == salt.bytes else { return .folderWasReplaced }
        let data = CacheFile.data(of: response)
        let (folder, prefix) = place(of: response.key)
        let others = files(of: response, in: folder, prefix)
        guard others.allSatisfy({ response.recency.replaces($0.recency) }) else { return .isOlder }
        let path = layout.path(folder, name: prefix + name(of: response))
        let fits = data.count <= limit / 4
        if fits { try CacheEntryFile.write(data, to: path, in: layout, folder) }
        if let number { kept.withLock { $0[path] = number } }
        for other in others where other.path != path || !fits { removeFile(other.path) }
        if response.variant != .only { limitVariants(in: folder, prefix: prefix) }
        if fits { noteWriting(of: data.count) }
        return .written
    }

    private func noteWriting(of count: Int) {
        let isFull = usage.withLock { usage in
            usage.written += count
            return usage.isCheckDue(limit: limit)
        }
        if isFull { maintain() }
    }

    /// Removes a response and older ones with the same key and variant.
    func remove(_ response: CachedResponse) {
        removeFiles(of: response) { $0 <= response.recency }
    }

    /// Removes the responses that a response would replace.
    func removeReplaced(by response: CachedResponse) {
        removeFiles(of: response) { response.recency.replaces($0) }
    }

    private func removeFiles(of response: CachedResponse, where shouldBeRemoved: (CacheRecency) -> Bool) {
        let (folder, prefix) = place(of: response.key)
        for file in files(of: response, in: folder, prefix) where shouldBeRemoved(file.recency) {
            removeFile(file.path)
        }
    }

    /// The files with the same key and variant as a response.
    private func files(
        of response: CachedResponse,
        in folder: Int,
        _ prefix: String
    ) -> [(path: String, recency: CacheRecency)] {
        let start = prefix + name(of: response.variant)
        return layout.names(in: folder, startingWith: start).compactMap { name in
            CacheRecency(DiskCacheLayout.recency(of: name)).map { (layout.path(folder, name: name), $0) }
        }
    }

    /// Removes the file of a response. If that fails, the folder is no longer used.
    ///
    /// - Returns: Whether it existed.
    @discardableResult
    func removeFile(_ path: String) -> Bool {
        if CacheEntryFile.remove(path) { return true }
        let failure = CacheFailure("cannot remove", path: path)
        guard FileStatus(of: path)?.isRegular == true else { return false }
        let wasClosed = isClosed.withLock { isClosed in
            defer { isClosed = true }
            return isClosed
        }
        if !wasClosed { report(.failed(failure.message)) }
        return false
    }

    /// Removes the responses of a URL for all users.
    ///
    /// - Returns: Their number.
    func remove(url: String) -> Int {
        let digest = salt.digest(of: [url])
        let folder = layout.folderNumber(of: digest)
        let names = layout.names(in: folder, startingWith: String(digest.prefix(32)))
        return names.filter { removeFile(layout.path(folder, name: $0)) }.count
    }

    func hasPersonalResponses(of url: String) -> Bool {
        let digest = salt.digest(of: [url])
        let start = String(digest.prefix(32)) + "-"
        return layout.names(in: layout.folderNumber(of: digest), startingWith: start).contains { name in
            !name.hasPrefix(start + Self.noUser)
        }
    }

    private func limitVariants(in folder: Int, prefix: String) {
        let names = layout.names(in: folder, startingWith: prefix)
        guard names.count > Self.variantLimit else { return }
        let paths = names.map { layout.path(folder, name: $0) }
        let byAge = paths.sorted { CacheEntryFile.modificationTime(of: $0) < CacheEntryFile.modificationTime(of: $1) }
        for path in byAge.dropLast(Self.variantLimit) { CacheEntryFile.remove(path) }
    }

    // MARK: - Names

    /// The folder of a key's files, and the prefix of their names.
    typealias Place = (folder: Int, prefix: String)

    func place(of key: CacheKey) -> Place {
        let digest = salt.digest(of: [key.url])
        return (layout.folderNumber(of: digest), "\(digest.prefix(32))-\(Self.name(ofUser: key.user))-")
    }

    /// The part of a name that identifies a user.
    static func name(ofUser user: String?) -> String { user.map { String($0.prefix(16)) } ?? noUser }

    private static let noUser = String(repeating: "0", count: 16)

    private func name(of response: CachedResponse) -> String {
        name(of: response.variant) + "-" + response.recency.text
    }

    private func name(of variant: CacheVariant) -> String {
        guard !variant.names.isEmpty else { return Self.noUser }
        return String(salt.digest(of: variant.names + [variant.digest ?? ""]).prefix(16))
    }
}

/// A failed operation of a cache's folder.
struct CacheFailure: Error, Sendable, Hashable {
    let message: String

    init(_ what: String, path: String, code: Int32 = errno) {
        message = "\(what) \(path): \(String(cString: strerror(code)))"
    }

    init(message: String) {
        self.message = message
    }
}
