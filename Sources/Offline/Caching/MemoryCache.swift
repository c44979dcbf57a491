// SPDX-License-Identifier: MIT
import TargetKit

/// The responses in memory. Above a limit, the least recently used ones are removed.
final class MemoryCache: Sendable {
    private struct Slot: Sendable {
        let response: CachedResponse
        /// The number of the last use.
        var use: UInt64
        /// The time of the use that was last recorded on disk.
        var noted: Date?
    }

    private struct State: Sendable {
        /// The slots by URL, so that all responses of a URL can be removed.
        var slots: [String: [Slot]] = [:]
        var size = 0
        var lastUse: UInt64 = 0

        mutating func nextUse() -> UInt64 {
            lastUse += 1
            return lastUse
        }
    }

    private let limit: Int
    private let state = Locked(State())

    init(limit: Int) {
        self.limit = max(0, limit)
    }

    /// The approximate number of bytes in memory.
    var size: Int { state.withLock(\.size) }

    /// The most recent response for a key that a closure accepts.
    func response(for key: CacheKey, where isSelected: (CachedResponse) -> Bool) -> CachedResponse? {
        // The closure computes digests, so it runs outside the lock.
        let candidates = state.withLock { state -> [CachedResponse] in
            guard let slots = state.slots[key.url] else { return [] }
            if slots.count == 1, slots[0].response.key.user == key.user {
                let use = state.nextUse()
                state.slots[key.url]?[0].use = use
                return [slots[0].response]
            }
            return slots.lazy.map(\.response).filter { $0.key.user == key.user }
        }
        // Prefers the last stored one of equally recent responses.
        guard let found = candidates.filter(isSelected).reversed().max(by: { $0.recency < $1.recency }) else {
            return nil
        }
        if candidates.count > 1 { use(found) }
        return found
    }

    func hasPersonalResponses(of url: String) -> Bool {
        state.withLock { $0.slots[url]?.contains { $0.response.key.user != nil } == true }
    }

    /// Whether to note the use of a response on disk, which happens at most once a minute.
    func isUseDue(of response: CachedResponse, at now: Date) -> Bool {
        state.withLock { state in
            guard let index = state.slots[response.key.url]?.firstIndex(where: { $0.response === response }) else {
                return false
            }
            let noted = state.slots[response.key.url]?[index].noted
            if let noted, abs(now.timeIntervalSince(noted)) < DiskCache.useInterval { return false }
            state.slots[response.key.url]?[index].noted = now
            return true
        }
    }

    private func use(_ response: CachedResponse) {
        state.withLock { state in
            guard let index = state.slots[response.key.url]?.firstIndex(where: { $0.response === response }) else {
                return
            }
            let use = state.nextUse()
            state.slots[response.key.url]?[index].use = use
        }
    }

    /// Stores a response, replacing the one with the same key and variant unless that is more recent. A response larger
    /// than a quarter of the limit isn't stored.
    ///
    /// - Parameter isFromDisk: Whether the response was read from disk. It then doesn't replace one that arrived during
    ///   the read.
    /// - Returns: Whether no more recent response is stored.
    @discardableResult
    func store(_ response: CachedResponse, isFromDisk: Bool = false) -> Bool {
        let fits = response.size <= limit / 4
        return state.withLock { state in
            var slots = state.slots[response.key.url] ?? []
            let isLate = slots.contains { slot in
                guard slot.response.isSameVariant(as: response) else { return false }
                let stored = slot.response.recency
                return isFromDisk ? stored >= response.recency : !response.recency.replaces(stored)
            }
            if isLate { return false }
            slots.removeAll { slot in
                let isReplaced = slot.response.isSameVariant(as: response)
                if isReplaced { state.size -= slot.response.size }
                return isReplaced
            }
            if fits {
                slots.append(Slot(response: response, use: state.nextUse()))
                state.size += response.size
            }
            while slots.count > DiskCache.variantLimit, let oldest = slots.first {
                state.size -= oldest.response.size
                slots.removeFirst()
            }
            state.slots[response.key.url] = slots.isEmpty ? nil : slots
            if state.size > limit { makeRoom(in: &state) }
            return true
        }
    }

    /// Removes the least recently used responses until an eighth of the limit is free.
    private func makeRoom(in state: inout State) {
        let slots = state.slots.values.joined().sorted { $0.use < $1.use }
        var removed: Set<ObjectIdentifier> = []
        for slot in slots where state.size > limit - limit / 8 {
            removed.insert(ObjectIdentifier(slot.response))
            state.size -= slot.response.size
        }
        state.slots = state.slots.compactMapValues { slots in
            let rest = slots.filter { !removed.contains(ObjectIdentifier($0.response)) }
            return rest.isEmpty ? nil : rest
        }
    }

    /// Removes the responses that a closure accepts, for one URL or all.
    ///
    /// - Returns: Their number.
    @discardableResult
    func remove(url: String? = nil, where shouldBeRemoved: (CachedResponse) -> Bool = { _ in true }) -> Int {
        let responses = state.withLock { state in
            if let url {
                state.slots[url]?.map(\.response) ?? []
            } else {
                state.slots.values.flatMap { $0.map(\.response) }
            }
        }
        let removed = responses.filter(shouldBeRemoved)
        return state.withLock { state in
            var count = 0
            for response in removed {
                guard let index = state.slots[response.key.url]?.firstIndex(where: { $0.response === response }) else {
                    continue
                }
                state.slots[response.key.url]?.remove(at: index)
                if state.slots[response.key.url]?.isEmpty == true { state.slots[response.key.url] = nil }
                state.size -= response.size
                count += 1
            }
            return count
        }
    }
}
