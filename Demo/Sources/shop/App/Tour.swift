// SPDX-License-Identifier: MIT
import Foundation
import ShopAPI
import TargetKit
import TargetKitPlugins

/// The walk through the shop: each step makes calls, says what they returned, and checks it.
struct Tour: Sendable {
    let client: ShopClient
    let console: Console
    /// Whether the slow call runs until the person ends it.
    let isHeld: Bool
    /// Whether the error of a step ends only that step.
    let continuesAfterErrors: Bool
    private let errorCount = Guarded(0)

    init(client: ShopClient, console: Console, isHeld: Bool = false, continuesAfterErrors: Bool = false) {
        self.client = client
        self.console = console
        self.isHeld = isHeld
        self.continuesAfterErrors = continuesAfterErrors
    }

    func run() async throws {
        for step in [
            preview, signIn, list, search, order, refresh, member, retry, upload, download, cancel, meetUnauthorized,
            meetUnauthorizedInBody,
        ] {
            try await run(step)
        }
        await finish()
    }

    private func run(_ step: () async throws -> Void) async throws {
        do {
            try await step()
        } catch let error as TargetKitError where continuesAfterErrors && error.stage != .shutDown {
            errorCount.withLock { $0 += 1 }
            console.endProgress()
            console.failed(error)
        } catch {
            console.endProgress()
            throw error
        }
    }

    private func finish() async {
        // Lets the last report run, which is on the main actor.
        await MainActor.run {}
        let count = client.activity.count
        let errors = errorCount.value
        let (began, most) = (count.began, count.mostAtOnce)
        console.space()
        console.record(
            "end",
            ["calls": .count(began), "mostAtOnce": .count(most), "errors": .count(errors)],
            errors == 0
                ? Phrase(
                    "Everything went as described: \(began) calls, at most \(most) at once.",
                    "全部符合预期：共 \(began) 个请求，同时最多 \(most) 个。"
                )
                : Phrase(
                    "\(began) calls; \(errors) steps ended with an error, in spite of retries.",
                    "共 \(began) 个请求；重试后仍有 \(errors) 步出错。"
                )
        )
    }
}
