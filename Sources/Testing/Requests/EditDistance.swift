// SPDX-License-Identifier: MIT

/// The similarity of two strings or lists, measured as the cost of the insertions, deletions and replacements between
/// them (Levenshtein distance).
package enum EditDistance {
    /// The distance between two lists, where inserting or deleting an element costs 1.
    ///
    /// - Parameter cost: Returns the cost of replacing an element with another; 0 if they match.
    static func between<First, Second>(
        _ first: [First],
        _ second: [Second],
        replacing cost: (First, Second) -> Double
    ) -> Double {
        ofRests(first, second, replacing: cost)[0][0]
    }

    /// The distances between the rests of two lists, after each number of elements of the first and second list.
    static func ofRests<First, Second>(
        _ first: [First],
        _ second: [Second],
        replacing cost: (First, Second) -> Double
    ) -> [[Double]] {
        var rests = [second.indices.map { Double(second.count - $0) } + [0]]
        for element in first.reversed() {
            let rest = rests[rests.count - 1]
            var current = rest
            current[second.count] += 1
            for column in second.indices.reversed() {
                let replaced = cost(element, second[column]) + rest[column + 1]
                current[column] = min(replaced, 1 + min(rest[column], current[column + 1]))
            }
            rests.append(current)
        }
        return rests.reversed()
    }

    /// The difference between two strings, from 0 for equal strings to 1. Only the first 64 characters are compared.
    package static func dissimilarity(_ first: String, _ second: String) -> Double {
        if first == second { return 0 }
        let (first, second) = (Array(first.prefix(64)), Array(second.prefix(64)))
        let longest = max(first.count, second.count, 1)
        return max(0.01, between(first, second) { $0 == $1 ? 0 : 1 } / Double(longest))
    }
}
