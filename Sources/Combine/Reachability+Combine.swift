// SPDX-License-Identifier: MIT
#if canImport(Combine)
import Combine
import TargetKit
import TargetKitPlugins

extension Reachability {
    /// Publishes the current status and all later ones on the main queue. Statuses are buffered until there is demand.
    ///
    /// A subscription retains the reachability until it is cancelled.
    public var statusPublisher: some Publisher<Status, Never> {
        RequestPublisher<Status>(on: .main) { [self] yield in
            for await status in statuses { yield(status) }
        }
        .replaceError(with: .unknown)
    }
}
#endif
