// SPDX-License-Identifier: MIT
import Foundation
import ShopAPI
import TargetKit
import TargetKitDiagnostics
import TargetKitTesting
import Testing

@testable import ShopScreens

@MainActor @Suite("Calls", .timeLimit(.minutes(1)))
struct CallLogTests {
    @Test("The plugin adds each call, newest first, without its secrets")
    func calls() async throws {
        let log = CallLog()
        let world = try ModelCase(
            [.any: .sequence(.json(#"{"items":[],"token":"s3cr3t"}"#), .status(500))],
            plugins: [log.plugin]
        )
        _ = try await world.client.catalog.request(.products)
        _ = try? await world.client.catalog.request(.search(Search(q: "tea")))
        while log.calls.count < 2 { await Task.yield() }
        #expect(log.calls.map(\.isFailure) == [true, false])
        #expect(log.calls[0].title.hasSuffix("q=tea"))
        #expect(log.calls[0].detail.hasPrefix("500 · ") && log.calls[0].detail.hasSuffix(" ms · stub"))
        #expect(log.calls[1].lines.contains { $0.text.contains("<redacted>") })
        #expect(!log.calls[1].text.contains("s3cr3t"))
    }

    @Test("An entry that comes again replaces the first one, and at most 100 are kept")
    func limit() async throws {
        let recorded = Guarded<[HAREntry]>([])
        let plugin = HARPlugin { entry in recorded.withLock { $0.append(entry) } }
        let world = try ModelCase([.any: .json("{}")], plugins: [plugin])
        for _ in 0..<102 { _ = try await world.client.catalog.request(.products) }
        let log = CallLog()
        let entries = recorded.withLock { $0 }
        for entry in entries + entries.suffix(1) { await log.record(entry) }
        #expect(log.calls.map(\.id) == entries.suffix(100).reversed().map(\.id))
    }
}
