// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

extension RequestLog {
    /// Checks that exactly the expected requests have arrived, in this order.
    ///
    /// - Throws: An error whose description is a diff of the expected requests and those that arrived.
    public func expect(_ patterns: [RequestPattern]) throws {
        let diff = RequestDiff(patterns, requests)
        guard !diff.isEmpty else { return }
        throw ExpectationFailure(
            "The requests are not the expected ones (- expected, + arrived):\n\(diff.text)"
        )
    }

    /// Checks how many requests match a pattern.
    ///
    /// - Throws: An error whose description lists the requests that arrived.
    public func expect(_ pattern: RequestPattern, times: Int) throws {
        let requests = requests
        let count = requests.count { pattern.matches($0) }
        guard count != times else { return }
        throw ExpectationFailure(
            "Expected \(Plural.of(times, "request")) matching \(pattern), found \(count).",
            requests.map { ($0, pattern.matches($0) ? "matches" : nil) },
            compared: pattern
        )
    }
}

/// An expectation that was not met. Its description is the message for the test's report.
struct ExpectationFailure: LocalizedError, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }

    /// A message with a list of requests, and what differs between each and a pattern.
    ///
    /// - Parameter requests: The requests, and a note that replaces the differences.
    init(_ title: String, _ requests: [(request: RecordedRequest, note: String?)], compared pattern: RequestPattern) {
        guard !requests.isEmpty else {
            self.init("\(title) No requests arrived.")
            return
        }
        var lines = ["\(title) \(Plural.of(requests.count, "request")) arrived:"]
        for (index, (request, note)) in requests.prefix(Self.longestList).enumerated() {
            lines.append("  \(index + 1). \(request.summary)" + (note.map { ": \($0)" } ?? ""))
            if note == nil { lines += Self.lines(of: pattern, request) }
        }
        let rest = requests.count - Self.longestList
        if rest > 0 { lines.append("  … and \(Plural.of(rest, "other request"))") }
        self.init(lines.joined(separator: "\n"))
    }

    /// The number of requests that a message lists.
    static let longestList = 20

    /// The differences between a pattern and a request, indented.
    static func lines(of pattern: RequestPattern, _ request: RecordedRequest) -> [String] {
        let differences = pattern.ignoringState.mismatches(request, in: nil)
        let lines = differences.prefix(longestList).map { "       \($0)" }
        return differences.count > lines.count ? lines + ["       …"] : lines
    }

    /// The description, which XCTest on Apple platforms reads from here.
    var errorDescription: String? { description }
}

/// A number with its noun.
enum Plural {
    static func of(_ count: Int, _ noun: String) -> String {
        "\(count) \(noun)\(count == 1 ? "" : "s")"
    }
}

/// The comparison of expected requests with those that arrived, as a diff.
private struct RequestDiff {
    private enum Step {
        case match(RequestPattern)
        case differs(RequestPattern, RecordedRequest)
        case missing(RequestPattern)
        case unexpected(RecordedRequest)
    }

    private var steps: [Step] = []

    /// Whether the requests are the expected ones.
    private(set) var isEmpty = true

    init(_ patterns: [RequestPattern], _ requests: [RecordedRequest]) {
        let parts = requests.map { RequestParts($0) }
        var (first, last) = (0, 0)
        let shortest = min(patterns.count, requests.count)
        while first < shortest, patterns[first].captures(parts[first]) != nil { first += 1 }
        if first == patterns.count, first == requests.count { return }
        isEmpty = false
        while last < shortest - first,
            patterns[patterns.count - 1 - last].captures(parts[parts.count - 1 - last]) != nil
        { last += 1 }
        let (expected, arrived) = (first..<patterns.count - last, first..<requests.count - last)
        steps = patterns[..<first].map { .match($0) }
        var (position, index) = (expected.lowerBound, arrived.lowerBound)
        func addDifferences(upTo pattern: Int, _ request: Int) {
            while position < pattern, index < request {
                steps.append(.differs(patterns[position], requests[index]))
                (position, index) = (position + 1, index + 1)
            }
            steps += patterns[position..<pattern].map { .missing($0) }
            steps += requests[index..<request].map { .unexpected($0) }
            (position, index) = (pattern, request)
        }
        for match in Self.matches(patterns, expected, parts, arrived) {
            addDifferences(upTo: match.pattern, match.request)
            steps.append(.match(patterns[position]))
            (position, index) = (position + 1, index + 1)
        }
        addDifferences(upTo: expected.upperBound, arrived.upperBound)
        steps += patterns[expected.upperBound...].map { .match($0) }
    }

    /// The longest common subsequence of patterns and matching requests.
    private static func matches(
        _ patterns: [RequestPattern],
        _ expected: Range<Int>,
        _ requests: [RequestParts],
        _ arrived: Range<Int>
    ) -> [(pattern: Int, request: Int)] {
        // A table of a million entries takes 8 MB. Longer lists are compared position by position.
        guard expected.count * arrived.count <= 1_000_000 else { return [] }
        let width = arrived.count + 1
        var lengths = [Int](repeating: 0, count: (expected.count + 1) * width)
        var isMatch = [Bool](repeating: false, count: lengths.count)
        for row in expected.indices.reversed() {
            for column in arrived.indices.reversed() {
                let place = (row - expected.lowerBound) * width + column - arrived.lowerBound
                isMatch[place] = patterns[row].captures(requests[column]) != nil
                lengths[place] =
                    isMatch[place]
                    ? lengths[place + width + 1] + 1 : max(lengths[place + 1], lengths[place + width])
            }
        }
        var matches: [(Int, Int)] = []
        var (row, column) = (expected.lowerBound, arrived.lowerBound)
        while row < expected.upperBound, column < arrived.upperBound {
            let place = (row - expected.lowerBound) * width + column - arrived.lowerBound
            if isMatch[place] {
                matches.append((row, column))
                (row, column) = (row + 1, column + 1)
            } else if lengths[place + 1] >= lengths[place + width] {
                column += 1
            } else {
                row += 1
            }
        }
        return matches
    }

    /// The diff, one line for each expected or arrived request, and indented lines with what differs.
    var text: String {
        var lines: [String] = []
        var differenceCount = 0
        for step in steps {
            if case .match(let pattern) = step {
                lines.append("    \(pattern)")
                continue
            }
            differenceCount += 1
            guard differenceCount <= ExpectationFailure.longestList else { continue }
            switch step {
            case .match: break
            case .differs(let pattern, let request):
                lines += ["  - \(pattern)", "  + \(request.summary)"] + ExpectationFailure.lines(of: pattern, request)
            case .missing(let pattern): lines.append("  - \(pattern)")
            case .unexpected(let request): lines.append("  + \(request.summary)")
            }
        }
        let rest = differenceCount - ExpectationFailure.longestList
        if rest > 0 { lines.append("  … and \(Plural.of(rest, "other difference"))") }
        return lines.joined(separator: "\n")
    }
}
