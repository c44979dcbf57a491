// SPDX-License-Identifier: MIT
import TargetKit

extension RetryAfter {
    /// The delay; zero for a date in the past; `nil` if the field is missing or malformed.
    ///
    /// - Parameter now: The device's time. If the response has a `Date`, the field is compared with it, so the device's
    ///   clock doesn't matter.
    package static func delay(in headers: HTTPHeaders, now: Date) -> Duration? {
        guard let text = headers["Retry-After"]?.trimmingCharacters(in: .whitespaces), !text.isEmpty else { return nil }
        if text.utf8.allSatisfy(\.isDigit) {
            return .seconds(min(Int64(text) ?? .max, longest))
        }
        guard let date = HTTPDate.parse(text, now: now) else { return nil }
        let sent = headers["Date"].flatMap { HTTPDate.parse($0, now: now) } ?? now
        return .seconds(min(max(0, date.timeIntervalSince(sent)), Double(longest)))
    }

    /// The longest delay in seconds, because a duration has less range than numbers and dates.
    private static let longest: Int64 = 1 << 40
}
