// SPDX-License-Identifier: MIT
import Foundation
@testable import TargetKit
import TestSupport
import Testing

@Suite("TLSPolicy", .throttled)
struct TLSPolicyTests {
    @Test(
        "A pin applies to its host, and an asterisk to one whole label",
        arguments: [
            ("example.com", "example.com", true), ("EXAMPLE.com", "example.COM", true),
            ("a.example.com", "example.com", false), ("a.example.com", "*.example.com", true),
            ("example.com", "*.example.com", false), ("a.b.example.com", "*.example.com", false),
            (".example.com", "*.example.com", false), ("badexample.com", "*.example.com", false),
        ]
    )
    func hosts(host: String, pattern: String, isMatch: Bool) {
        let pinned = TLSPolicy(pins: [pattern: ["a"]])
        #expect(pinned.pinnedKeys(for: host) == (isMatch ? ["a"] : nil))
        #expect(TLSPolicy(trust: .insecureTrustAll(for: [pattern])).trustsBlindly(host) == isMatch)
    }

    @Test("The keys of all pins for a host are accepted, and a pin without keys accepts none")
    func keys() {
        let policy = TLSPolicy(pins: ["a.b": ["1"], "*.b": ["2", "3"], "c": []])
        #expect(policy.pinnedKeys(for: "a.b")?.sorted() == ["1", "2", "3"])
        #expect(policy.pinnedKeys(for: "c") == [])
        #expect(policy.pinnedKeys(for: "d") == nil)
    }
}
