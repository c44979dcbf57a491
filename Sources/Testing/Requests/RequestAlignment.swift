// SPDX-License-Identifier: MIT
import TargetKit

/// A diff of the expected requests and the requests that arrived.
struct RequestAlignment {
    private enum Step {
        case match(RequestPattern)
        case differs(RequestPattern, RecordedRequest)
        case missing(RequestPattern)
        case unexpected(RecordedRequest)
    }

    private var steps: [Step] = []
    /// Whether the requests are the expected ones.
    private(set) var isMatch = true

    /// Aligns patterns and requests, first the matches at the start and end, and then the others.
    init(_ patterns: [RequestPattern], requests: [RecordedRequest]) {
        let parts = requests.map { RequestParts($0) }
        let shortest = min(patterns.count, parts.count)
        let first = (0..<shortest).first { patterns[$0].captures(parts[$0]) == nil } ?? shortest
        if first == patterns.count, first == parts.count { return }
        isMatch = false
        let (lastPattern, lastPart) = (patterns.count - 1, parts.count - 1)
        let longestEnd = shortest - first
        let last =
            (0..<longestEnd).first { patterns[lastPattern - $0].captures(parts[lastPart - $0]) == nil } ?? longestEnd
        steps = patterns[..<first].map { .match($0) }
        addSteps(Array(patterns[first..<patterns.count - last]), requests: Array(parts[first..<parts.count - last]))
        steps += patterns.suffix(last).map { .match($0) }
    }

    /// Adds the steps with the lowest cost. A match costs 0, a missing or unexpected request 1, and a differing request
    /// 1 to 2. Long lists are compared by position.
    private mutating func addSteps(_ patterns: [RequestPattern], requests: [RequestParts]) {
        guard patterns.count * requests.count <= 10_000 else {
            for (pattern, request) in zip(patterns, requests) { add(pattern, request: request) }
            steps += patterns.dropFirst(requests.count).map { .missing($0) }
            steps += requests.dropFirst(patterns.count).map { .unexpected($0.request) }
            return
        }
        let costs = patterns.map { pattern in
            requests.map { request in
                let distance = pattern.ignoringState.distance(to: request, in: nil)
                return distance == 0 ? 0 : 1 + distance / (1 + distance)
            }
        }
        let rests = EditDistance.ofRests(Array(patterns.indices), Array(requests.indices)) { costs[$0][$1] }
        var (row, column) = (0, 0)
        while row < patterns.count || column < requests.count {
            if row < patterns.count, column < requests.count,
                rests[row][column] == costs[row][column] + rests[row + 1][column + 1]
            {
                add(patterns[row], request: requests[column])
                (row, column) = (row + 1, column + 1)
            } else if row < patterns.count, rests[row][column] == 1 + rests[row + 1][column] {
                steps.append(.missing(patterns[row]))
                row += 1
            } else {
                steps.append(.unexpected(requests[column].request))
                column += 1
            }
        }
    }

    private mutating func add(_ pattern: RequestPattern, request: RequestParts) {
        steps.append(pattern.captures(request) == nil ? .differs(pattern, request.request) : .match(pattern))
    }

    /// The diff, with one line for each expected or arrived request, and indented lines with the differences.
    var text: String {
        var lines: [String] = []
        var matches: [RequestPattern] = []
        var differenceCount = 0
        for step in steps {
            if case .match(let pattern) = step {
                matches.append(pattern)
                continue
            }
            differenceCount += 1
            guard differenceCount <= ExpectationFailure.longestList else { continue }
            lines += Self.lines(matches)
            matches = []
            switch step {
            case .match: break
            case .differs(let pattern, let request):
                lines +=
                    ["  - \(pattern)", "  + \(request.summary)"]
                    + ExpectationFailure.lines(of: pattern, request: request)
            case .missing(let pattern): lines.append("  - \(pattern)")
            case .unexpected(let request): lines.append("  + \(request.summary)")
            }
        }
        let rest = differenceCount - ExpectationFailure.longestList
        if rest > 0 {
            lines.append("  … and \(Plural.of(rest, noun: "other difference"))")
        } else {
            lines += Self.lines(matches)
        }
        return lines.joined(separator: "\n")
    }

    /// The lines of consecutive matches, which show the first two and the last two.
    private static func lines(_ matches: [RequestPattern]) -> [String] {
        guard matches.count > 5 else { return matches.map { "    \($0)" } }
        return matches.prefix(2).map { "    \($0)" } + ["    … \(matches.count - 4) more that match"]
            + matches.suffix(2).map { "    \($0)" }
    }
}
