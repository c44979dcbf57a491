// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// Where an ``EnvironmentStore`` saves the selection between launches of the app.
///
/// The store makes one call at a time, with no lock held; the last one has the current selection.
package protocol EnvironmentStorage: Sendable {
    /// The saved name; `nil` if there is none. It is called once, when the store is made.
    func load() -> String?

    /// Saves a name; `nil` removes the saved name.
    func save(_ name: String?)
}

/// Keeps the selected environment in memory, for tests, and for an app that always starts with the default.
package struct MemoryEnvironmentStorage: EnvironmentStorage {
    private let name: Locked<String?>

    /// Creates a storage with a name; default: none. Copies share it.
    package init(_ name: String? = nil) {
        self.name = Locked(name)
    }

    /// The name.
    package func load() -> String? { name.withLock { $0 } }

    /// Replaces the name.
    package func save(_ name: String?) { self.name.withLock { $0 = name } }
}

/// Saves the selected environment in the user defaults.
package struct UserDefaultsEnvironmentStorage: EnvironmentStorage {
    private let suiteName: String?
    private let key: String

    /// Creates a storage with a key of the user defaults.
    ///
    /// - Parameters:
    ///   - suiteName: The suite, for example an app group; default: the app's own defaults.
    ///   - key: The key. A launch argument with that name, which the defaults return too, is ignored.
    package init(suiteName: String? = nil, key: String = "TargetKit.environment") {
        self.suiteName = suiteName
        self.key = key
    }

    // Made at each of the few calls: not every Foundation has a `Sendable` one.
    private var defaults: UserDefaults { suiteName.flatMap { UserDefaults(suiteName: $0) } ?? .standard }

    /// The name in the defaults.
    package func load() -> String? {
        let defaults = defaults
        let isHidden = defaults.volatileDomain(forName: UserDefaults.argumentDomain)[key] != nil
        let name =
            isHidden ? defaults.persistentDomain(forName: domain)?[key] as? String : defaults.string(forKey: key)
        return name
    }

    /// The domain that ``save(_:)`` writes to.
    private var domain: String {
        suiteName ?? Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
    }

    /// Writes the name to the defaults.
    package func save(_ name: String?) {
        let defaults = defaults
        if let name { defaults.set(name, forKey: key) } else { defaults.removeObject(forKey: key) }
        #if canImport(FoundationNetworking)
        // On Linux, values are only written by this call.
        defaults.synchronize()
        #endif
    }
}
