// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import TargetKit
import TargetKitPlugins
import Testing

/// What one response sets, and what a later request sends.
struct CookieRow: Sendable, CustomTestStringConvertible {
    let fields: [String]
    var from = "http://home.example.org/cookies/parser"
    var to: String?
    let sent: String?

    init(_ fields: String..., from: String? = nil, to: String? = nil, sent: String?) {
        self.fields = fields
        self.from = from ?? self.from
        self.to = to
        self.sent = sent
    }

    var testDescription: String { "\(fields) \(from) → \(to ?? "same")" }

    func check(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let store = CookieStore(now: { Date(timeIntervalSince1970: 1_800_000_000) })
        store.store(fields, from: try #require(URL(string: from)))
        let header = store.header(for: try #require(URL(string: to ?? from)))
        #expect(header == sent, sourceLocation: sourceLocation)
    }
}
