// SPDX-License-Identifier: MIT
import TargetKit

/// Identifiers in the order of their keys. Removing the first and appending take constant time.
struct OrderedIDs<Key: Comparable & Sendable>: Sendable {
    private var entries: [(key: Key, id: UUID)] = []
    /// The index of the first entry. Earlier entries were taken.
    private var start = 0

    var first: (key: Key, id: UUID)? { start < entries.count ? entries[start] : nil }

    mutating func insert(_ id: UUID, key: Key) {
        entries.insert((key, id), at: index(of: key) { $0 <= key })
    }

    mutating func remove(_ id: UUID, key: Key) {
        var index = index(of: key) { $0 < key }
        while index < entries.count, entries[index].key == key, entries[index].id != id { index += 1 }
        guard index < entries.count, entries[index].id == id else { return }
        guard index == start else {
            entries.remove(at: index)
            return
        }
        start += 1
        guard start > 64, start > entries.count / 2 else { return }
        entries.removeFirst(start)
        start = 0
    }

    /// The index of the first entry whose key isn't ordered before the given one.
    private func index(of key: Key, comesBefore: (Key) -> Bool) -> Int {
        var (low, high) = (start, entries.count)
        if let last = entries.last, low < high, comesBefore(last.key) { return high }
        while low < high {
            let middle = (low + high) / 2
            if comesBefore(entries[middle].key) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
