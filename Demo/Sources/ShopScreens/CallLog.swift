// SPDX-License-Identifier: MIT
import Foundation
import Observation
import TargetKit
import TargetKitDiagnostics

/// The last calls of the app, for a list in its development build.
@available(iOS 17, macOS 14, *)
@MainActor @Observable
public final class CallLog {
    /// An exchange, with secrets redacted.
    public struct Call: Identifiable, Hashable, Sendable {
        /// The identifier of the entry.
        public let id: String
        let date: Date
        let title: String
        let detail: String
        let isFailure: Bool
        /// The entry of an HTTP Archive.
        let text: String

        struct Line: Identifiable {
            let id: Int
            let text: String
        }

        var lines: [Line] {
            text.components(separatedBy: "\n").enumerated().map { Line(id: $0.offset, text: $0.element) }
        }
    }

    /// The calls, newest first, at most 100.
    public private(set) var calls: [Call] = []

    /// Creates an empty log.
    public init() {}

    /// The plugin for the app's providers.
    public var plugin: HARPlugin {
        HARPlugin(bodyLimit: 16_384) { [weak self] entry in Task { [weak self] in await self?.record(entry) } }
    }

    /// Adds a call. Redaction is slow, so it runs off the main actor.
    func record(_ entry: HAREntry) async {
        add(await Call.describing(entry))
    }

    private func add(_ call: Call) {
        // The end of a stream replaces its beginning. Entries can arrive in another order.
        calls.removeAll { $0.id == call.id }
        let index = calls.firstIndex { $0.date <= call.date } ?? calls.endIndex
        calls.insert(call, at: index)
        calls.removeLast(max(0, calls.count - 100))
    }
}

@available(iOS 17, macOS 14, *)
extension CallLog.Call {
    nonisolated static func describing(_ entry: HAREntry) async -> Self {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let status = entry.statusCode.map(String.init) ?? entry.failure.map { "\($0)" } ?? "…"
        let milliseconds = Int(entry.duration / .milliseconds(1))
        return Self(
            id: entry.id,
            date: entry.startedDate,
            title: "\(entry.method) \(entry.url)",
            detail: "\(status) · \(milliseconds) ms · \(entry.source.rawValue)",
            isFailure: entry.failure != nil || (entry.statusCode ?? 0) >= 400,
            text: (try? encoder.encode(entry)).map { String(decoding: $0, as: UTF8.self) } ?? ""
        )
    }
}
