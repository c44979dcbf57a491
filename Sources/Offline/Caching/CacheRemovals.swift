// SPDX-License-Identifier: MIT
import TargetKit

/// The removals from a cache, so that a response whose exchange began before a removal isn't stored after it.
struct CacheRemovals: Sendable {
    /// Identifies the removals before an exchange.
    struct Generation: Sendable, Hashable {
        /// The number of the last removal before it.
        let number: Int
    }

    /// The responses that the app removed.
    private struct Selection: Sendable {
        let number: Int
        let contains: @Sendable (ResponseCache.Entry) -> Bool
    }

    private static let selectionLimit = 16
    private static let urlLimit = 1_000

    private var lastNumber = 0
    private var selections: [Selection] = []
    private var urls: [String: Int] = [:]
    /// The last removal whose details were discarded. It and earlier removals count as removals of all responses.
    private var forgotten = 0
    /// The removals whose files are being removed.
    private var active: [Selection] = []
    /// The removals whose responses are being removed from memory.
    private var searching: [Selection] = []

    var generation: Generation { Generation(number: lastNumber) }

    /// Notes the beginning of a removal by the app, and returns its number.
    mutating func begin(_ contains: @escaping @Sendable (ResponseCache.Entry) -> Bool) -> Int {
        lastNumber += 1
        let selection = Selection(number: lastNumber, contains: contains)
        active.append(selection)
        searching.append(selection)
        selections.append(selection)
        if selections.count > Self.selectionLimit { forgotten = max(forgotten, selections.removeFirst().number) }
        return lastNumber
    }

    /// Notes that the responses of a removal have been removed from memory.
    mutating func endSearch(_ number: Int) { searching.removeAll { $0.number == number } }

    /// Notes that the files of a removal have been removed.
    mutating func end(_ number: Int) { active.removeAll { $0.number == number } }

    /// Notes the removal of the responses of a URL.
    mutating func add(_ url: String) {
        lastNumber += 1
        if urls.count >= Self.urlLimit, urls[url] == nil {
            forgotten = lastNumber
            (urls, selections) = ([:], [])
        }
        urls[url] = lastNumber
    }

    /// Whether the files of a removal are being removed.
    var isActive: Bool { !active.isEmpty }

    /// A check of whether a response was removed since a generation. It calls the app's closures, so it is performed
    /// after the lock is released.
    ///
    /// - Parameter isRead: Whether the response was read from a file, which a removal in progress may not have reached.
    func question(of url: String, since generation: Generation, isRead: Bool) -> Question {
        let isRemoved = forgotten > generation.number || urls[url].map { $0 > generation.number } ?? false
        if isRemoved { return Question(isRemoved: true) }
        let later = selections.filter { $0.number > generation.number } + (isRead ? active : [])
        return Question(closures: later.map(\.contains))
    }

    /// A check of whether a response in memory is being removed. A later response that the closures select counts, too.
    var questionOfMemory: Question { Question(closures: searching.map(\.contains)) }

    struct Question: Sendable {
        fileprivate var isRemoved = false
        fileprivate var closures: [@Sendable (ResponseCache.Entry) -> Bool] = []

        /// The result of the check for a response.
        func answer(for response: CachedResponse) -> Bool {
            if isRemoved || closures.isEmpty { return isRemoved }
            guard let entry = response.entry else { return true }
            return closures.contains { $0(entry) }
        }
    }
}
