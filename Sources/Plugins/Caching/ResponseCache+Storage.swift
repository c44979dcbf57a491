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

    /// Identifies the responses that may be stored: those whose exchange began after the latest removal.
    var generation: Int { removals.withLock { $0 } }

    /// The latest response for a key that a request with these fields selects.
    func response(for key: CacheKey, _ fields: [String: String], in storage: Storage) async -> CachedResponse? {
        if let found = memory.response(for: key, where: { $0.variant.matches(fields, storage.salt) }) { return found }
        guard let disk = storage.disk else { return nil }
        let generation = generation
        let found = await disk.onQueue(of: key.url) { disk.response(for: key, fields) }
        guard let found else { return nil }
        keepInMemory(found, generation, isFromDisk: true)
        // One that has arrived meanwhile is newer.
        return memory.response(for: key) { $0.hasPlace(of: found) } ?? found
    }

    /// Keeps a response in memory, unless responses were removed since a generation.
    private func keepInMemory(_ response: CachedResponse, _ generation: Int, isFromDisk: Bool = false) {
        guard generation == self.generation else { return }
        memory.store(response, isFromDisk: isFromDisk)
        // A removal may have looked for it before it was there.
        if generation != self.generation { memory.remove(url: response.key.url) { $0 === response } }
    }

    /// Stores a response, unless responses were removed since its exchange began.
    func store(_ response: CachedResponse, in storage: Storage, generation: Int) {
        guard generation == self.generation else { return }
        keepInMemory(response, generation)
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

    /// Removes responses from memory. Those that are in transit are not stored.
    func removeFromMemory(_ shouldBeRemoved: (Entry) -> Bool) -> Int {
        removals.withLock { $0 += 1 }
        return memory.remove { response in response.entry.map(shouldBeRemoved) ?? true }
    }

    /// Removes one response.
    func remove(_ response: CachedResponse, in storage: Storage) {
        memory.remove(url: response.key.url) { $0.hasPlace(of: response) }
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

extension CachedResponse {
    /// The description for ``ResponseCache/removeAll(where:)``.
    fileprivate var entry: ResponseCache.Entry? {
        URL(string: key.url).map { ResponseCache.Entry(url: $0, date: responseTime, isPersonal: key.user != nil) }
    }
}
