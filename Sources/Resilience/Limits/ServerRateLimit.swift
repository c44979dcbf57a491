// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

/// The server's limits in a response.
struct ServerRateLimit: Sendable, Hashable {
    /// The time until the next request is allowed; `nil` if it is allowed now.
    var delay: Duration?
    /// The number of remaining requests; `nil` if it is unknown.
    var remaining: Int?

    /// Returns `nil` if the response contains no limits.
    init?(_ response: Response, now: () -> Date) {
        let isRefused = response.statusCode == 429 || response.statusCode == 503
        let headers = response.headers
        if isRefused { delay = RetryAfter.delay(in: headers, now: now()) }
        let (remaining, reset) = Self.quota(in: headers, now: now)
        self.remaining = remaining
        if remaining == 0, let reset { delay = max(delay ?? .zero, reset) }
        if delay == nil, remaining == nil { return nil }
    }

    private static func quota(in headers: HTTPHeaders, now: () -> Date) -> (remaining: Int?, reset: Duration?) {
        if let field = headers["RateLimit"], let quota = quota(inField: field) { return quota }
        let names: [(HTTPHeaderName, HTTPHeaderName)] = [
            ("RateLimit-Remaining", "RateLimit-Reset"), ("X-RateLimit-Remaining", "X-RateLimit-Reset"),
        ]
        for (remainingName, resetName) in names {
            guard let remaining = headers[remainingName].flatMap(number) else { continue }
            return (Int(min(remaining, 1e9)), reset(headers[resetName], headers: headers, now: now))
        }
        return (nil, nil)
    }

    /// The smallest quota in a field such as `"hour";r=50;t=30`, or `limit=100, remaining=50, reset=30` in earlier
    /// drafts. Of equal quotas, the one that is reset last is used.
    private static func quota(inField field: String) -> (remaining: Int?, reset: Duration?)? {
        var quotas: [(remaining: Int, reset: Duration?)] = []
        for part in field.split(whereSeparator: { $0 == ";" || $0 == "," }) {
            let pair = part.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            guard pair.count == 2, let value = number(pair[1]) else { continue }
            switch pair[0].lowercased() {
            case "r", "remaining": quotas.append((Int(min(value, 1e9)), nil))
            case "t", "reset":
                if let last = quotas.indices.last { quotas[last].reset = .seconds(min(value, 1e9)) }
            default: break
            }
        }
        return quotas.min { ($0.remaining, $1.reset ?? .zero) < ($1.remaining, $0.reset ?? .zero) }
            .map { ($0.remaining, $0.reset) }
    }

    /// Parses the seconds from now or, as some servers send, since 1970.
    private static func reset(_ text: String?, headers: HTTPHeaders, now: () -> Date) -> Duration? {
        guard let seconds = text.flatMap(number) else { return nil }
        guard seconds > 1e8 else { return .seconds(seconds) }
        let now = now()
        let sent = headers["Date"].flatMap { HTTPDate.parse($0, now: now) } ?? now
        return .seconds(min(max(0, seconds - sent.timeIntervalSince1970), 1e9))
    }

    /// Parses a number without a sign. Some servers send fractions.
    private static func number(_ text: some StringProtocol) -> Double? {
        let text = text.trimmingCharacters(in: .whitespaces)
        guard text.utf8.first?.isDigit == true, let number = Double(text) else { return nil }
        return number.isFinite ? number : nil
    }
}
