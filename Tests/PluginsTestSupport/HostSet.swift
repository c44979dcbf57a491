// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting

/// Hosts whose answers the test sets, by their names: `a.example` and so on.
package final class HostSet: Sendable {
    package let script: ScriptedTransport
    private let answers = Locked<[String: SampleResponse]>([:])

    package init() {
        let answers = answers
        script = ScriptedTransport { request, _ in
            answers.withLock { $0[request.url?.host() ?? ""] } ?? .status(200)
        }
    }

    package func set(_ answer: SampleResponse?, _ names: String...) {
        answers.withLock { answers in for name in names { answers["\(name).example"] = answer } }
    }

    /// The hosts of the requests, by their letters.
    package var visits: String { script.hosts.map { $0.prefix(1) }.joined() }

    package static func urls(_ names: String) -> [URL] {
        names.compactMap { URL(string: "https://\($0).example") }
    }
}
