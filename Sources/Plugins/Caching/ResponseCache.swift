// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// Stored responses, in memory and in a folder, for a ``ResponseCachePlugin``.
///
/// ```swift
/// let cache = ResponseCache(storedIn: .cachesDirectory.appending(path: "responses"))
/// let provider = Provider<Catalog>(plugins: [ResponseCachePlugin(cache)])
/// ```
///
/// - Several providers and processes can use one folder. A response that another process has removed may still be in
///   this process's memory.
/// - The folder has mode 0700 and its files 0600. The files contain URLs, header fields without `Set-Cookie`, and
///   bodies in plain text; their names are digests. Credentials are not stored, only digests of them with a secret
///   random number.
/// - Responses are written after the call has completed, without a flush. Damaged files are ignored and removed.
/// - If the folder cannot be used, the cache works in memory only, and ``events`` reports the reason.
public final class ResponseCache: Sendable {
    /// A description of a stored response, for ``ResponseCache/removeAll(where:)``.
    public struct Entry: Sendable {
        /// The URL of the request, without a fragment.
        public let url: URL
        /// The date on which the response was received or last confirmed by the server.
        public let date: Date
        /// Whether the request had credentials.
        public let isPersonal: Bool
    }

    /// An event of a cache.
    public enum Event: Sendable {
        /// A stored response was used.
        case hit(URL, Response.Origin)
        /// There was no stored response, or none that could be used.
        case miss(URL)
        /// A response was stored.
        case stored(URL)
        /// The server has confirmed a stored response.
        case revalidated(URL)
        /// Responses were removed, because they were invalid or exceeded the limit, or at the app's request.
        case removed(count: Int)
        /// The folder could not be used; the text is for the developer. The calls are not affected.
        case failed(String)
    }

    /// What is known once the folder is open.
    struct Storage: Sendable {
        let salt: CacheSalt
        /// `nil` if there is no folder, or it cannot be used.
        let disk: DiskCache?
    }

    let memory: MemoryCache
    let now: @Sendable () -> Date
    let usesHeuristics: Bool
    /// The responses that are validated in the background.
    let revalidations = Locked<Set<Revalidation>>([])
    private let folder: URL?
    private let diskLimit: Int
    private let storage: Locked<Storage?>
    private let openingQueue = DispatchQueue(label: "TargetKit.cache.open")
    /// The number of times that responses were removed by the app or by a sign-out.
    private let removals = Locked(0)
    private let log = CacheEvents()

    /// Creates a cache. The folder is opened by the first call that uses it.
    ///
    /// - Parameters:
    ///   - folder: A folder for the cache alone, for example in the caches directory; it is created if necessary.
    ///     Default `nil`: memory only.
    ///   - memoryLimit: The maximum number of bytes in memory; default 16 MiB. The least recently used responses are
    ///     removed first. A response larger than a quarter of the limit is not kept in memory.
    ///   - diskLimit: The maximum number of bytes in the folder; default 128 MiB. Each process may exceed it by an
    ///     eighth. A response larger than a quarter of the limit is not kept in the folder.
    ///   - usesHeuristics: Whether a response without an explicit lifetime is fresh for a tenth of the time since its
    ///     last modification (RFC 9111 §4.2.2); default: no, it is validated before each use.
    public convenience init(
        storedIn folder: URL? = nil,
        memoryLimit: Int = 16 << 20,
        diskLimit: Int = 128 << 20,
        usesHeuristics: Bool = false
    ) {
        self.init(
            storedIn: folder,
            memoryLimit: memoryLimit,
            diskLimit: diskLimit,
            usesHeuristics: usesHeuristics,
            now: { Date() }
        )
    }

    /// Creates a cache with a clock, for tests.
    package init(
        storedIn folder: URL? = nil,
        memoryLimit: Int = 16 << 20,
        diskLimit: Int = 128 << 20,
        usesHeuristics: Bool = false,
        now: @escaping @Sendable () -> Date
    ) {
        self.folder = folder
        self.diskLimit = diskLimit
        self.usesHeuristics = usesHeuristics
        self.now = now
        memory = MemoryCache(limit: memoryLimit)
        storage = Locked(folder == nil ? Storage(salt: .random(), disk: nil) : nil)
    }

    deinit { log.finish() }

    /// The events from now on. If more than 256 are unread, the oldest are dropped.
    public var events: AsyncStream<Event> { log.stream() }

    /// The number of bytes, in memory and in the folder.
    public var size: (memory: Int, disk: Int) {
        get async { (memory.size, await open().disk?.size() ?? 0) }
    }

    /// Removes all responses.
    public func removeAll() async {
        await removeAll { _ in true }
    }

    /// Removes the responses for which a closure returns `true`. Responses to requests in progress are not stored.
    ///
    /// ```swift
    /// await cache.removeAll { $0.isPersonal }
    /// ```
    public func removeAll(where isMeant: @escaping @Sendable (Entry) -> Bool) async {
        let inMemory = removeFromMemory(isMeant)
        let disk = await open().disk
        let removed = await disk?.remove(where: isMeant) ?? inMemory
        // Those that were read from the folder meanwhile.
        _ = removeFromMemory(isMeant)
        if removed > 0 { report(.removed(count: removed)) }
    }
}

extension ResponseCache {
    private func removeFromMemory(_ isMeant: (Entry) -> Bool) -> Int {
        removals.withLock { $0 += 1 }
        return memory.remove { response in response.entry.map(isMeant) ?? true }
    }
}

// MARK: - For the plugin

extension ResponseCache {
    /// A validation in the background.
    struct Revalidation: Hashable, Sendable {
        let key: CacheKey
        let variant: CacheVariant
    }

    /// Opens the folder, if that has not been done.
    func open() async -> Storage {
        if let storage = storage.withLock({ $0 }) { return storage }
        return await DiskCache.run(on: openingQueue) { [self] in
            if let storage = storage.withLock({ $0 }) { return storage }
            let opened = openFolder()
            storage.withLock { $0 = opened }
            return opened
        }
    }

    private func openFolder() -> Storage {
        guard let folder else { return Storage(salt: .random(), disk: nil) }
        do throws(CacheFailure) {
            guard folder.isFileURL else { throw CacheFailure(message: "the folder of the cache is not a file URL") }
            let log = log
            let disk = try DiskCache(folder, limit: diskLimit, usesHeuristics: usesHeuristics) { log.report($0) }
            return Storage(salt: disk.salt, disk: disk)
        } catch {
            report(.failed(error.message))
            return Storage(salt: .random(), disk: nil)
        }
    }

    func report(_ event: @autoclosure () -> Event) { log.report(event()) }

    /// Identifies the responses that may be stored: those whose exchange began after the latest removal.
    var generation: Int { removals.withLock { $0 } }

    /// The latest response for a key that a request with these fields selects.
    func response(for key: CacheKey, _ fields: [String: String], in storage: Storage) async -> CachedResponse? {
        if let found = memory.response(for: key, where: { $0.variant.matches(fields, storage.salt) }) { return found }
        guard let disk = storage.disk else { return nil }
        let generation = generation
        let found = await disk.onQueue(of: key.url) { disk.response(for: key, fields) }
        if let found, generation == self.generation { memory.store(found) }
        return found
    }

    /// Stores a response, unless responses were removed since its exchange began.
    func store(_ response: CachedResponse, in storage: Storage, generation: Int) {
        guard generation == self.generation else { return }
        memory.store(response)
        storage.disk?.begin(for: response.key.url) { [self] in
            guard generation == self.generation else { return }
            do throws(CacheFailure) {
                try storage.disk?.write(response)
            } catch {
                // An older response must not take its place.
                storage.disk?.remove(response)
                report(.failed(error.message))
            }
        }
        if let url = URL(string: response.key.url) { report(.stored(url)) }
    }

    /// Removes one response.
    func remove(_ response: CachedResponse, in storage: Storage) {
        memory.remove(url: response.key.url) { $0.key == response.key && $0.variant == response.variant }
        storage.disk?.begin(for: response.key.url) { storage.disk?.remove(response) }
        report(.removed(count: 1))
    }

    /// Removes the responses of a URL, those of all users.
    func remove(url: String, in storage: Storage) async {
        // Responses that are in transit are from before the change, and are not stored.
        removals.withLock { $0 += 1 }
        let inMemory = memory.remove(url: url)
        let onDisk = await storage.disk?.onQueue(of: url) { storage.disk?.remove(url: url) ?? 0 } ?? 0
        removals.withLock { $0 += 1 }
        memory.remove(url: url)
        let count = max(inMemory, onDisk)
        if count > 0 { report(.removed(count: count)) }
    }

    /// Removes the responses to requests with credentials, at the end of a session.
    func removePersonal() {
        _ = removeFromMemory(\.isPersonal)
        Task { await removeAll(where: \.isPersonal) }
    }

    /// Waits until what was begun before is on the disk.
    package func settle() async {
        _ = await open().disk?.onEachQueue { _ in }
    }
}

extension CachedResponse {
    /// The description for ``ResponseCache/removeAll(where:)``.
    fileprivate var entry: ResponseCache.Entry? {
        URL(string: key.url).map { ResponseCache.Entry(url: $0, date: responseTime, isPersonal: key.user != nil) }
    }
}

extension ResponseCache.Entry: ReflectsDescription {
    /// The URL without secrets.
    public var description: String { RedactedURL(url).description }
}

extension ResponseCache.Event: ReflectsDescription {
    /// The event in one line, with a URL without secrets.
    public var description: String {
        switch self {
        case .hit(let url, let origin): "hit \(RedactedURL(url)) (\(origin))"
        case .miss(let url): "miss \(RedactedURL(url))"
        case .stored(let url): "stored \(RedactedURL(url))"
        case .revalidated(let url): "revalidated \(RedactedURL(url))"
        case .removed(let count): "removed \(count)"
        case .failed(let message): "failed: \(message)"
        }
    }
}

extension ResponseCache: ReflectsDescription {
    /// The name of the type.
    public var description: String { "ResponseCache" }
}

/// The readers of a cache's events.
private final class CacheEvents: Sendable {
    private struct State: Sendable {
        var readers: [Int: AsyncStream<ResponseCache.Event>.Continuation] = [:]
        var last = 0
    }

    private let state = Locked(State())

    func stream() -> AsyncStream<ResponseCache.Event> {
        let (stream, reader) = AsyncStream.makeStream(
            of: ResponseCache.Event.self,
            bufferingPolicy: .bufferingNewest(256)
        )
        let number = state.withLock { state in
            state.last += 1
            state.readers[state.last] = reader
            return state.last
        }
        reader.onTermination = { [weak self] _ in self?.state.withLock { _ = $0.readers.removeValue(forKey: number) } }
        return stream
    }

    func report(_ event: @autoclosure () -> ResponseCache.Event) {
        let readers = state.withLock { $0.readers.isEmpty ? [] : Array($0.readers.values) }
        if readers.isEmpty { return }
        let event = event()
        for reader in readers { reader.yield(event) }
    }

    func finish() {
        for reader in state.withLock(\.readers).values { reader.finish() }
    }
}
