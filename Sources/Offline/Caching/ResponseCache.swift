// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

/// A store of responses in memory and in a folder, for a ``ResponseCachePlugin``.
///
/// ```swift
/// let cache = ResponseCache(storedIn: .cachesDirectory.appending(path: "responses"))
/// let provider = Provider<Catalog>(plugins: [ResponseCachePlugin(cache)])
/// ```
///
/// - Several providers and processes can share a folder. A response that another process removed or replaced may stay
///   in this process's memory until it is stale.
/// - Of several responses to the same request, the one with the most recent `Date` is stored (RFC 9111 §4).
/// - The folder has mode 0700 and its files 0600. The files contain URLs, header fields without `Set-Cookie`, and
///   bodies in plain text; their names are digests. Credentials are stored only as digests with a secret salt.
/// - Responses are written after the call completes, without a flush. Damaged files are ignored and removed.
/// - If the folder can't be used, the cache works in memory only, and ``events`` reports the reason.
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
        /// There was no usable stored response.
        case miss(URL)
        /// A response was stored.
        case stored(URL)
        /// The server confirmed a stored response.
        case revalidated(URL)
        /// Responses were removed by the app, or because they were invalid or exceeded the limit.
        case removed(count: Int)
        /// The folder couldn't be used. The text is for developers. Calls aren't affected.
        case failed(String)
    }

    /// The opened folder, and its salt.
    struct Storage: Sendable {
        let salt: CacheSalt
        /// `nil` if there is no folder, or it can't be used.
        let disk: DiskCache?
    }

    let memory: MemoryCache
    let now: @Sendable () -> Date
    let usesHeuristics: Bool
    /// The responses that are being validated in the background.
    let revalidations = Locked<Set<Revalidation>>([])
    /// The responses whose validation in the background returned a response that a call must decide about.
    let unconfirmed = Locked<Set<Revalidation>>([])
    let folder: URL?
    let diskLimit: Int
    let storage: Locked<Storage?>
    let openingQueue = DispatchQueue(label: "TargetKit.cache.open")
    let removals = Locked(CacheRemovals())
    let log = EventReaders<Event>(bufferingPolicy: .bufferingNewest(256))

    /// Creates a cache. The first call that uses the cache opens the folder.
    ///
    /// - Parameters:
    ///   - folder: A folder that only the cache uses, for example in the caches folder; it is created if necessary.
    ///     Default `nil`: memory only.
    ///   - memoryLimit: The maximum number of bytes in memory; default 16 MiB. The least recently used responses are
    ///     removed first. A response larger than a quarter of the limit isn't stored in memory.
    ///   - diskLimit: The maximum number of bytes in the folder; default 128 MiB. Each process may exceed it by an
    ///     eighth. A response larger than a quarter of the limit isn't stored in the folder.
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

    /// A sequence of the events after this call. If more than 256 are unread, the oldest are dropped.
    public var events: AsyncStream<Event> { log.stream() }

    /// The number of bytes in memory and in the folder.
    public var size: (memory: Int, disk: Int) {
        get async { (memory.size, await open().disk?.size() ?? 0) }
    }

    /// Removes all responses.
    public func removeAll() async {
        await removeAll { _ in true }
    }

    /// Removes the responses for which a closure returns `true`, and doesn't store such responses to requests in
    /// progress.
    ///
    /// The responses are no longer used once the call begins, even before their files are removed. The closure can be
    /// called on any thread, and is retained for requests in progress. If a file can't be removed, ``events`` reports
    /// the reason, and the folder isn't used until the next launch.
    ///
    /// ```swift
    /// await cache.removeAll { $0.isPersonal }
    /// ```
    public func removeAll(where shouldBeRemoved: @escaping @Sendable (Entry) -> Bool) async {
        await finishRemoval(beginRemoval(of: shouldBeRemoved), of: shouldBeRemoved)
    }
}

extension ResponseCache.Entry: RedactedDescription {
    /// The URL without secrets.
    package var redactedDescription: String { RedactedURL(url).description }
}

extension ResponseCache.Event: RedactedDescription {
    /// The event in one line, with a URL without secrets.
    package var redactedDescription: String {
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

extension ResponseCache: RedactedDescription {
    /// The name of the type.
    package var redactedDescription: String { "ResponseCache" }
}
