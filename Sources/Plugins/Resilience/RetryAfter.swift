// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// The field by which a server says when to come again (RFC 9110 §10.2.3).
enum RetryAfter {
    /// How long to wait; zero for a date that has passed, `nil` without the field or with one that says nothing.
    ///
    /// - Parameter now: The device's time. A response with a `Date` is measured by that one, so that a clock that is wrong does
    ///   not matter.
    static func delay(in headers: HTTPHeaders, now: Date) -> Duration? {
        guard let text = headers["Retry-After"]?.trimmingCharacters(in: .whitespaces), !text.isEmpty else { return nil }
        if text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            return .seconds(min(Int64(text) ?? .max, 1 << 40))
        }
        guard let date = HTTPDate.parse(text, now: now) else { return nil }
        let sent = headers["Date"].flatMap { HTTPDate.parse($0, now: now) } ?? now
        return .seconds(max(0, date.timeIntervalSince(sent)))
    }
}
