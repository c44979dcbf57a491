// SPDX-License-Identifier: MIT

/// The steps that transform one sequence into another, for arrays and lines of text.
enum ArrayAlignment {
    /// One step, with the indices of the elements.
    enum Step: Sendable, Hashable {
        case equal(old: Int, new: Int)
        case replaced(old: Int, new: Int)
        case removed(old: Int)
        case inserted(new: Int)
    }

    /// The maximum product of the lengths for which the best alignment is computed. Longer sequences are compared by
    /// index.
    private static let limit = 250_000

    /// The steps in order. Equal elements are aligned, the elements between them are replaced individually, and the
    /// rest of the longer side is removed or inserted.
    static func steps<Element: Hashable>(from old: [Element], to new: [Element]) -> [Step] {
        let prefix = zip(old, new).prefix { $0 == $1 }.count
        let rest = min(old.count, new.count) - prefix
        let suffix = zip(old.reversed(), new.reversed()).prefix(rest).prefix { $0 == $1 }.count
        let (oldEnd, newEnd) = (old.count - suffix, new.count - suffix)
        var steps = (0..<prefix).map { Step.equal(old: $0, new: $0) }
        steps += middle(old, oldRange: prefix..<oldEnd, new: new, newRange: prefix..<newEnd)
        steps += (0..<suffix).map { .equal(old: oldEnd + $0, new: newEnd + $0) }
        return steps
    }

    private static func middle<Element: Hashable>(
        _ old: [Element],
        oldRange: Range<Int>,
        new: [Element],
        newRange: Range<Int>
    ) -> [Step] {
        guard !oldRange.isEmpty, !newRange.isEmpty, oldRange.count * newRange.count <= limit else {
            return gap(oldRange, new: newRange)
        }
        var (removed, inserted): (Set<Int>, Set<Int>) = ([], [])
        for change in Array(new[newRange]).difference(from: Array(old[oldRange])) {
            switch change {
            case .remove(let offset, _, _): removed.insert(oldRange.lowerBound + offset)
            case .insert(let offset, _, _): inserted.insert(newRange.lowerBound + offset)
            }
        }
        var steps: [Step] = []
        var (oldStart, newStart) = (oldRange.lowerBound, newRange.lowerBound)
        var (oldEnd, newEnd) = (oldStart, newStart)
        while true {
            while oldEnd < oldRange.upperBound, removed.contains(oldEnd) { oldEnd += 1 }
            while newEnd < newRange.upperBound, inserted.contains(newEnd) { newEnd += 1 }
            steps += gap(oldStart..<oldEnd, new: newStart..<newEnd)
            guard oldEnd < oldRange.upperBound, newEnd < newRange.upperBound else { return steps }
            steps.append(.equal(old: oldEnd, new: newEnd))
            (oldEnd, newEnd) = (oldEnd + 1, newEnd + 1)
            (oldStart, newStart) = (oldEnd, newEnd)
        }
    }

    /// The steps for elements between two aligned elements.
    private static func gap(_ old: Range<Int>, new: Range<Int>) -> [Step] {
        let count = min(old.count, new.count)
        return zip(old, new).map { Step.replaced(old: $0, new: $1) }
            + old.dropFirst(count).map { .removed(old: $0) }
            + new.dropFirst(count).map { .inserted(new: $0) }
    }
}
