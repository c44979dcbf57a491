// SPDX-License-Identifier: MIT
import TargetKit

extension RequestLog {
    /// Checks that exactly the expected requests arrived, in this order.
    ///
    /// - Throws: An error whose description is a diff of the expected requests and the requests that arrived.
    public func expect(_ patterns: [RequestPattern]) throws {
        let alignment = RequestAlignment(patterns, requests: requests)
        guard !alignment.isMatch else { return }
        throw ExpectationFailure(
            "The requests differ from the expected ones (- expected, + arrived):\n\(alignment.text)"
        )
    }

    /// Checks the number of requests that match a pattern.
    ///
    /// - Throws: An error whose description lists the requests that arrived.
    public func expect(_ pattern: RequestPattern, times: Int) throws {
        let requests = requests
        let count = requests.count { pattern.matches($0) }
        guard count != times else { return }
        throw ExpectationFailure(
            "Expected \(Plural.of(times, noun: "request")) matching \(pattern), found \(count).",
            requests: requests.map { ($0, pattern.matches($0) ? "matches" : nil) },
            compared: pattern
        )
    }
}

extension ExpectationFailure {
    /// A message with a list of requests, and the differences between each request and a pattern.
    ///
    /// - Parameter requests: The requests, each with an optional note that replaces the differences.
    init(_ title: String, requests: [(request: RecordedRequest, note: String?)], compared pattern: RequestPattern) {
        guard !requests.isEmpty else {
            self.init("\(title) No requests arrived.")
            return
        }
        var lines = ["\(title) \(Plural.of(requests.count, noun: "request")) arrived:"]
        for (index, (request, note)) in requests.prefix(Self.longestList).enumerated() {
            lines.append("  \(index + 1). \(request.summary)" + (note.map { ": \($0)" } ?? ""))
            if note == nil { lines += Self.lines(of: pattern, request: request) }
        }
        let rest = requests.count - Self.longestList
        if rest > 0 { lines.append("  … and \(Plural.of(rest, noun: "other request"))") }
        self.init(lines.joined(separator: "\n"))
    }

    /// The number of requests that a message lists.
    static let longestList = 20

    /// The differences between a pattern and a request, indented.
    static func lines(of pattern: RequestPattern, request: RecordedRequest) -> [String] {
        let differences = pattern.ignoringState.mismatches(request, in: nil)
        let lines = differences.prefix(longestList).map { "       \($0)" }
        return differences.count > lines.count ? lines + ["       …"] : lines
    }
}
