// SPDX-License-Identifier: MIT
import TargetKit

@MainActor
final class Screen {
    var isVisible = false
    var toast = ""
}

@MainActor let indicator = Screen()
@MainActor let screen = Screen()
let clock = ContinuousClock()
nonisolated let folder = URL(filePath: "/")

// The few declarations of UIKit, RxSwift and PromiseKit that the page uses.

nonisolated struct UIBackgroundTaskIdentifier: Sendable {}

@MainActor
final class UIApplication {
    static let shared = UIApplication()

    func beginBackgroundTask(
        withName name: String?,
        expirationHandler: (@MainActor @Sendable () -> Void)?
    ) -> UIBackgroundTaskIdentifier {
        UIBackgroundTaskIdentifier()
    }

    func endBackgroundTask(_ identifier: UIBackgroundTaskIdentifier) {}
}

nonisolated struct Single<Element: Sendable>: Sendable {
    static func create(work: @escaping @Sendable () async throws -> Element) -> Single { Single() }
}

nonisolated struct Promise<Value> {
    struct Seal: Sendable {
        func fulfill(_ value: Value) {}
        func reject(_ error: any Error) {}
    }

    init(resolver body: (Seal) throws -> Void) {}
}
