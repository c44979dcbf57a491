// SPDX-License-Identifier: MIT
import Foundation

/// The differences between two texts, line by line.
package enum TextDifference {
    /// The number of equal lines shown before and after a difference.
    private static let context = 2

    /// The differing lines with their context, with `-` for expected and `+` for found lines. Empty if the texts are
    /// equal.
    ///
    /// - Parameter limit: The maximum number of lines.
    package static func lines(_ expected: String, found: String, limit: Int = 40) -> [String] {
        guard expected != found else { return [] }
        let (old, new) = (lines(of: expected), lines(of: found))
        guard old != new else { return ["  the line breaks differ"] }
        let steps = ArrayAlignment.steps(from: old, to: new)
        var lines: [String] = []
        var equal: [Int] = []
        var (removed, inserted): ([String], [String]) = ([], [])
        func endOfChange() {
            lines += removed + inserted
            (removed, inserted) = ([], [])
        }
        for step in steps {
            if case .equal(let index, _) = step {
                endOfChange()
                equal.append(index)
                continue
            }
            lines += shown(equal, of: old, isFirst: lines.isEmpty, isLast: false)
            equal = []
            switch step {
            case .equal: break
            case .replaced(let index, let other):
                removed.append("- " + old[index].excerpt(160))
                inserted.append("+ " + new[other].excerpt(160))
            case .removed(let index): removed.append("- " + old[index].excerpt(160))
            case .inserted(let index): inserted.append("+ " + new[index].excerpt(160))
            }
        }
        endOfChange()
        lines += shown(equal, of: old, isFirst: false, isLast: true)
        return lines.count > limit ? lines.prefix(limit) + ["… and \(lines.count - limit) more lines"] : lines
    }

    private static func lines(of text: String) -> [String] {
        text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map(String.init)
    }

    /// Equal lines next to a difference, and the number of the others.
    private static func shown(_ equal: [Int], of lines: [String], isFirst: Bool, isLast: Bool) -> [String] {
        let after = isFirst ? 0 : context
        let before = isLast ? 0 : context
        func line(_ index: Int) -> String { "  " + lines[index].excerpt(160) }
        guard equal.count > after + before + 1 else { return equal.map(line) }
        let count = equal.count - after - before
        return equal.prefix(after).map(line) + ["  … \(count) equal lines"] + equal.suffix(before).map(line)
    }
}
