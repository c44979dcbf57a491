// SPDX-License-Identifier: MIT
import TargetKit

#if canImport(Observation)
import Observation
#endif

/// Lets SwiftUI views observe an object that changes on any thread (iOS 17, macOS 14). On other systems, it does
/// nothing.
package final class ObservedChanges: Sendable {
    private let registrar: any Sendable
    /// Whether a notification of the observers is pending.
    private let isAnnounced = Locked(false)

    package init() {
        #if canImport(Observation)
        if #available(macOS 14, iOS 17, tvOS 17, watchOS 10, *) {
            registrar = ObservationRegistrar()
            return
        }
        #endif
        registrar = 0
    }

    #if canImport(Observation)
    /// The property that observers track.
    private var content: Void { () }
    #endif

    /// Notes that the caller reads the object.
    package func access() {
        #if canImport(Observation)
        if #available(macOS 14, iOS 17, tvOS 17, watchOS 10, *), let registrar = registrar as? ObservationRegistrar {
            registrar.access(self, keyPath: \.content)
        }
        #endif
    }

    /// Notifies observers on the main actor. Changes made until then are coalesced.
    package func announce() {
        #if canImport(Observation)
        if #available(macOS 14, iOS 17, tvOS 17, watchOS 10, *), let registrar = registrar as? ObservationRegistrar {
            let wasAnnounced = isAnnounced.withLock { isAnnounced in
                defer { isAnnounced = true }
                return isAnnounced
            }
            if wasAnnounced { return }
            Task { @MainActor in
                self.isAnnounced.withLock { $0 = false }
                registrar.withMutation(of: self, keyPath: \.content) {}
            }
        }
        #endif
    }
}

#if canImport(Observation)
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension ObservedChanges: Observable {}
#endif
