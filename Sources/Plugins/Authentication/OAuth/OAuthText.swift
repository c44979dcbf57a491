// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// Words of a token endpoint as they may be shown: in the characters of RFC 6749 §5.2, cut off, and without what it repeats of
/// the request.
struct OAuthText: Sendable {
    private let secrets: [String]

    init(leavingOut secrets: [String]) {
        // Longest first: one may be a part of another. A few characters are no secret, and stand in every word.
        self.secrets = secrets.filter { $0.count > 5 }.sorted { $0.count > $1.count }
    }

    func redacted(_ text: String, limit: Int) -> String {
        let clean = secrets.reduce(text) { $0.replacingOccurrences(of: $1, with: HeaderRedaction.placeholder) }
        let shown = clean.unicodeScalars.map { (0x20...0x7E).contains($0.value) ? Character($0) : " " }
        return String(shown.prefix(limit)) + (shown.count > limit ? "…" : "")
    }
}
