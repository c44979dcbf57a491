// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

extension ResponseCache {
    /// A validation in the background.
    struct Revalidation: Hashable, Sendable {
        let key: CacheKey
        let variant: CacheVariant

        init(of response: CachedResponse) {
            (key, variant) = (response.key, response.variant)
        }
    }

    /// The maximum number of ``unconfirmed`` responses.
    private static let unconfirmedLimit = 1_000

    /// Whether a stale response must be validated before use, although the server allows its use during validation.
    func mustValidate(_ response: CachedResponse) -> Bool {
        unconfirmed.withLock { !$0.isEmpty && $0.contains(Revalidation(of: response)) }
    }

    /// Requires that the next call validates a response before it uses it.
    func requireValidation(of response: CachedResponse) {
        unconfirmed.withLock { unconfirmed in
            if unconfirmed.count >= Self.unconfirmedLimit { unconfirmed = [] }
            unconfirmed.insert(Revalidation(of: response))
        }
    }

    /// Opens the folder on the first call.
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
            guard folder.isFileURL else { throw CacheFailure(message: "the folder of the cache isn't a file URL") }
            let log = log
            let disk = try DiskCache(folder, limit: diskLimit, usesHeuristics: usesHeuristics) { log.send($0) }
            return Storage(salt: disk.salt, disk: disk)
        } catch {
            report(.failed(error.message))
            return Storage(salt: .random(), disk: nil)
        }
    }

    func report(_ event: @autoclosure () -> Event) { log.send(event()) }

    /// Identifies the removals up to now. A response whose exchange begins now is stored, unless it is removed later.
    var generation: CacheRemovals.Generation { removals.withLock(\.generation) }

    /// Whether a response was removed since a generation, or is being removed from the folder from which it was read.
    private func isRemoved(
        _ response: CachedResponse,
        since generation: CacheRemovals.Generation,
        isRead: Bool = false
    ) -> Bool {
        removals.withLock { $0.question(of: response.key.url, since: generation, isRead: isRead) }.answer(for: response)
    }

    /// The most recent response for a key that is selected by a request's fields.
    func response(for key: CacheKey, fields: [String: String], in storage: Storage) async -> CachedResponse? {
        let (generation, question) = removals.withLock { ($0.generation, $0.questionOfMemory) }
        let inMemory = memory.response(for: key) { $0.variant.matches(fields, salt: storage.salt) }
        let found = inMemory.flatMap { question.answer(for: $0) ? nil : $0 }
        guard let disk = storage.disk else { return found }
        if let found, found.freshness.isFresh(at: now()) {
            if memory.isUseDue(of: found, at: now()) { disk.begin(for: key.url) { disk.noteUse(of: found) } }
            return found
        }
        // Another process may have stored a more recent response.
        let place = disk.place(of: key)
        let stored = await disk.onQueue(ofFolder: place.folder) { () -> CachedResponse? in
            let stored = disk.response(for: key, at: place, fields: fields, after: found?.recency)
            // On the queue, because a removal in progress ends after the queue has removed the file.
            return stored.flatMap { self.isRemoved($0, since: generation, isRead: true) ? nil : $0 }
        }
        guard let latest = stored ?? found, !isRemoved(latest, since: generation, isRead: stored != nil) else {
            return nil
        }
        guard let stored else { return found }
        keepInMemory(stored, generation: generation, isFromDisk: true)
        // A response that arrived during the read is more recent.
        return memory.response(for: key) { $0.isSameVariant(as: stored) } ?? stored
    }

    /// Stores a response in memory, unless it was removed since a generation.
    ///
    /// - Returns: Whether no more recent response is stored.
    @discardableResult
    private func keepInMemory(
        _ response: CachedResponse,
        generation: CacheRemovals.Generation,
        isFromDisk: Bool = false
    ) -> Bool {
        guard !isRemoved(response, since: generation, isRead: isFromDisk) else { return false }
        let isLatest = memory.store(response, isFromDisk: isFromDisk)
        // A removal may have searched the memory before the response was stored.
        if isRemoved(response, since: generation, isRead: isFromDisk) {
            memory.remove(url: response.key.url) { $0 === response }
        }
        return isLatest
    }

    /// Stores a response, unless a more recent one is stored. If it was removed since its exchange began, it isn't
    /// stored, and the response that it would replace is removed.
    func store(_ response: CachedResponse, in storage: Storage, generation: CacheRemovals.Generation) {
        let url = response.key.url
        if isRemoved(response, since: generation) {
            memory.remove(url: url) { $0.isReplaced(by: response) }
            storage.disk?.begin(for: url) { storage.disk?.removeReplaced(by: response) }
            return
        }
        guard keepInMemory(response, generation: generation) else { return }
        unconfirmed.withLock { _ = $0.remove(Revalidation(of: response)) }
        if let disk = storage.disk {
            disk.begin(for: url) { self.write(response, to: disk, generation) }
        }
        if let url = URL(string: url) { report(.stored(url)) }
    }

    private func write(_ response: CachedResponse, to disk: DiskCache, _ generation: CacheRemovals.Generation) {
        guard !isRemoved(response, since: generation) else { return disk.removeReplaced(by: response) }
        do throws(CacheFailure) {
            // A removal in progress that began before the exchange doesn't affect the response.
            let keptFrom = removals.withLock(\.isActive) ? generation.number : nil
            switch try disk.write(response, keptFrom: keptFrom) {
            case .written: break
            case .isOlder: memory.remove(url: response.key.url) { $0 === response }
            // The next call opens the new folder.
            case .folderWasReplaced: storage.withLock { if $0?.disk === disk { $0 = nil } }
            }
        } catch {
            // An older response must not replace it.
            disk.removeReplaced(by: response)
            report(.failed(error.message))
        }
    }

    /// Removes responses from memory. Responses in transit aren't stored.
    ///
    /// - Returns: The number of the removal, which ends when the files are removed, and the number of removed
    ///   responses.
    func beginRemoval(of isSelected: @escaping @Sendable (Entry) -> Bool) -> (number: Int, count: Int) {
        let number = removals.withLock { $0.begin(isSelected) }
        defer { removals.withLock { $0.endSearch(number) } }
        return (number, memory.remove { response in response.entry.map(isSelected) ?? true })
    }

    /// Removes the files of a removal.
    func finishRemoval(_ removal: (number: Int, count: Int), of isSelected: @escaping @Sendable (Entry) -> Bool) async {
        // A response that isn't written yet is only in memory.
        let disk = await open().disk
        let removed = max(removal.count, await disk?.remove(number: removal.number, where: isSelected) ?? 0)
        let isActive = removals.withLock { removals in
            removals.end(removal.number)
            return removals.isActive
        }
        if !isActive { disk?.kept.withLock { $0 = [:] } }
        if removed > 0 { report(.removed(count: removed)) }
    }

    /// Removes a response and the older ones that it replaced. Responses in transit aren't stored.
    func remove(_ response: CachedResponse, in storage: Storage) {
        removals.withLock { $0.add(response.key.url) }
        drop(response, in: storage)
    }

    /// Removes a response and the older ones that it replaced. Responses in transit may be stored.
    func drop(_ response: CachedResponse, in storage: Storage) {
        memory.remove(url: response.key.url) { $0.isSameOrOlder(than: response) }
        storage.disk?.begin(for: response.key.url) { storage.disk?.remove(response) }
        report(.removed(count: 1))
    }

    /// Removes the responses of a URL for all users.
    func remove(url: String, in storage: Storage) async {
        // Responses in transit are from before the change, and aren't stored.
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
        let removal = beginRemoval(of: \.isPersonal)
        Task { await finishRemoval(removal, of: \.isPersonal) }
    }

    /// Waits for all pending writes.
    package func waitForWrites() async {
        _ = await open().disk?.onEachQueue { _ in }
    }
}

extension ResponseCache {
    /// Whether responses to requests with credentials are stored for a URL.
    func hasPersonalResponses(of url: String, in storage: Storage) async -> Bool {
        if memory.hasPersonalResponses(of: url) { return true }
        return await storage.disk?.onQueue(of: url) { storage.disk?.hasPersonalResponses(of: url) == true } ?? false
    }

    /// Removes the responses that a request with an unsafe method invalidates (RFC 9111 §4.4).
    ///
    /// - Parameter canonical: Returns the URL under which responses are stored.
    func invalidate(
        after request: URLRequest,
        head: ResponseHead,
        canonical: (URL) -> URL,
        in storage: Storage
    ) async {
        guard !["GET", "HEAD", "OPTIONS", "TRACE"].contains(request.httpMethod ?? "GET"),
            (200...399).contains(head.statusCode), let url = request.url
        else { return }
        var urls: Set<String> = [CacheKey.text(of: canonical(url))]
        let headers = head.headers
        for name: HTTPHeaderName in [.location, "Content-Location"] {
            guard let value = headers[name], let other = URL(location: value, relativeTo: url),
                ServerOrigin(other) == ServerOrigin(url)
            else { continue }
            urls.insert(CacheKey.text(of: canonical(other)))
        }
        for url in urls { await remove(url: url, in: storage) }
    }
}
