// SPDX-License-Identifier: MIT

/// How similar two texts or lists are: the cost of the insertions, deletions and replacements that turn one into the
/// other (Levenshtein's distance).
enum EditDistance {
    /// The distance of two lists, where inserting or deleting an element costs 1.
    ///
    /// - Parameter cost: The cost of replacing an element by another; 0 if they match.
    static func between<First, Second>(
        _ first: [First],
        _ second: [Second],
        replacing cost: (First, Second) -> Double
    ) -> Double {
        var previous = (0...second.count).map(Double.init)
        for (row, element) in first.enumerated() {
            var current = [Double(row + 1)]
            for (column, other) in second.enumerated() {
                let replaced = previous[column] + cost(element, other)
                current.append(min(replaced, previous[column + 1] + 1, current[column] + 1))
            }
            previous = current
        }
        return previous[second.count]
    }

    /// How different two texts are: 0 if they are equal, up to 1. Only the first 64 characters are compared.
    static func dissimilarity(_ first: String, _ second: String) -> Double {
        if first == second { return 0 }
        let (first, second) = (Array(first.prefix(64)), Array(second.prefix(64)))
        let longest = max(first.count, second.count, 1)
        return max(0.01, between(first, second) { $0 == $1 ? 0 : 1 } / Double(longest))
    }
}
