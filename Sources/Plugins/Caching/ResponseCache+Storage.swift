// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension ResponseCache {
    /// A validation in the background.
    struct Revalidation: Hashable, Sendable {
        let key: CacheKey
        let variant: CacheVariant
    }

    /// Opens the folder, if that has not been done.
    func open() async -> Storage {
        if let storage = storage.withLock({ $0 }) { return storage }
        return await openingQueue.run { [self] in
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
            let disk = try DiskCache(folder, limit: diskLimit, usesHeuristics: usesHeuristics) { log.send($0) }
            return Storage(salt: disk.salt, disk: disk)
        } catch {
            report(.failed(error.message))
            return Storage(salt: .random(), disk: nil)
        }
    }

    func report(_ event: @autoclosure () -> Event) { log.send(event()) }

    /// Identifies the responses of a URL that may be stored: those whose exchange began after the latest removal.
    func generation(of url: String) -> CacheGeneration { removals.withLock { $0.generation(of: url) } }

    /// The latest response for a key that a request with these fields selects.
    func response(for key: CacheKey, _ fields: [String: String], in storage: Storage) async -> CachedResponse? {
        if let found = memory.response(for: key, where: { $0.variant.matches(fields, storage.salt) }) { return found }
        guard let disk = storage.disk else { return nil }
        let generation = generation(of: key.url)
        let found = await disk.onQueue(of: key.url) { disk.response(for: key, fields) }
        guard let found else { return nil }
        keepInMemory(found, generation, isFromDisk: true)
        // One that has arrived meanwhile is newer.
        return memory.response(for: key) { $0.replaces(found) } ?? found
    }

    /// Keeps a response in memory, unless responses were removed since a generation.
    private func keepInMemory(_ response: CachedResponse, _ generation: CacheGeneration, isFromDisk: Bool = false) {
        let url = response.key.url
        guard generation == self.generation(of: url) else { return }
        memory.store(response, isFromDisk: isFromDisk)
        // A removal may have looked for it before it was there.
        if generation != self.generation(of: url) { memory.remove(url: response.key.url) { $0 === response } }
    }

    /// Stores a response. If responses of its URL were removed since its exchange began, it is not stored, and the one
    /// that it would replace is removed.
    func store(_ response: CachedResponse, in storage: Storage, generation: CacheGeneration) {
        let url = response.key.url
        guard generation == self.generation(of: url) else {
            memory.remove(url: url) { $0.replaces(response) }
            storage.disk?.begin(for: url) { storage.disk?.remove(response) }
            return
        }
        keepInMemory(response, generation)
        storage.disk?.begin(for: url) { [self] in
            guard generation == self.generation(of: url) else { return storage.disk?.remove(response) ?? () }
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

    /// Removes responses from memory. Those that are in transit are not stored.
    func removeFromMemory(_ shouldBeRemoved: (Entry) -> Bool) -> Int {
        removals.withLock { $0.addAll() }
        return memory.remove { response in response.entry.map(shouldBeRemoved) ?? true }
    }

    /// Removes one response.
    ///
    /// - Parameter isReplaced: Whether another response has taken its place: those in transit may then be stored.
    func remove(_ response: CachedResponse, in storage: Storage, isReplaced: Bool = false) {
        if !isReplaced { removals.withLock { $0.add(response.key.url) } }
        memory.remove(url: response.key.url) { $0.replaces(response) }
        storage.disk?.begin(for: response.key.url) { storage.disk?.remove(response) }
        report(.removed(count: 1))
    }

    /// Removes the responses of a URL, those of all users.
    func remove(url: String, in storage: Storage) async {
        // Responses that are in transit are from before the change, and are not stored.
        removals.withLock { $0.add(url) }
        let inMemory = memory.remove(url: url)
        let onDisk = await storage.disk?.onQueue(of: url) { storage.disk?.remove(url: url) ?? 0 } ?? 0
        removals.withLock { $0.add(url) }
        memory.remove(url: url)
        let count = max(inMemory, onDisk)
        if count > 0 { report(.removed(count: count)) }
    }

    /// Removes the responses to requests with credentials, at the end of a session.
    func removePersonal() {
        _ = removeFromMemory(\.isPersonal)
        Task { await removeAll(where: \.isPersonal) }
    }

    /// Waits for all pending writes.
    package func waitForWrites() async {
        _ = await open().disk?.onEachQueue { _ in }
    }
}

extension ResponseCache {
    /// Removes the responses that a request of an unsafe method has made invalid (RFC 9111 §4.4).
    func invalidate(after request: URLRequest, _ head: ResponseHead, in storage: Storage) async {
        guard !["GET", "HEAD", "OPTIONS", "TRACE"].contains(request.httpMethod ?? "GET"),
            (200...399).contains(head.statusCode), let url = request.url
        else { return }
        var urls: Set<String> = [CacheKey.text(of: url)]
        let headers = head.headers
        for name: HTTPHeaderName in [.location, "Content-Location"] {
            guard let value = headers[name], let other = URL(string: value, relativeTo: url)?.absoluteURL,
                ServerOrigin(other) == ServerOrigin(url)
            else { continue }
            urls.insert(CacheKey.text(of: other))
        }
        for url in urls { await remove(url: url, in: storage) }
    }
}

/// The number of removals before an exchange.
struct CacheGeneration: Sendable, Equatable {
    let all: Int
    let url: Int
}

/// The numbers of removals, of all responses and by URL.
struct CacheRemovals: Sendable {
    private var all = 0
    private var urls: [String: Int] = [:]

    func generation(of url: String) -> CacheGeneration { CacheGeneration(all: all, url: urls[url] ?? 0) }

    mutating func addAll() {
        all += 1
        urls = [:]
    }

    mutating func add(_ url: String) {
        // A later removal of all counts for each URL.
        if urls.count == 1_000, urls[url] == nil { addAll() }
        urls[url, default: 0] += 1
    }
}

extension CachedResponse {
    /// The description for ``ResponseCache/removeAll(where:)``.
    fileprivate var entry: ResponseCache.Entry? {
        URL(string: key.url).map { ResponseCache.Entry(url: $0, date: responseTime, isPersonal: key.user != nil) }
    }
}
