// SPDX-License-Identifier: MIT
import TargetKit

/// The storage in which an ``EnvironmentStore`` saves the selection between launches of the app.
///
/// The store makes one call at a time, without a lock. The last call has the current selection.
package protocol EnvironmentStorage: Sendable {
    /// Returns the saved name; `nil` if there is none. Called once, when the store is created.
    func load() -> String?

    /// Saves a name; `nil` removes the saved name.
    func save(_ name: String?)
}

/// Stores the selected environment in memory, for tests and for apps that always start with the default.
package struct MemoryEnvironmentStorage: EnvironmentStorage {
    private let name: Locked<String?>

    /// Creates a storage with a name; default: none. Copies share the name.
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
    ///   - key: The key. A launch argument with this name, which the defaults also return, is ignored.
    package init(suiteName: String? = nil, key: String = "TargetKit.environment") {
        self.suiteName = suiteName
        self.key = key
    }

    // Created at each of the few calls, because `UserDefaults` isn't `Sendable` in every Foundation.
    private var defaults: UserDefaults { suiteName.flatMap { UserDefaults(suiteName: $0) } ?? .standard }

    /// The name in the defaults.
    package func load() -> String? {
        let defaults = defaults
        let isHidden = defaults.volatileDomain(forName: UserDefaults.argumentDomain)[key] != nil
        let name =
            isHidden ? defaults.persistentDomain(forName: domain)?[key] as? String : defaults.string(forKey: key)
        return name
    }

    /// The domain to which ``save(_:)`` writes.
    private var domain: String {
        suiteName ?? Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
    }

    /// Writes the name to the defaults.
    package func save(_ name: String?) {
        let defaults = defaults
        if let name { defaults.set(name, forKey: key) } else { defaults.removeObject(forKey: key) }
        #if canImport(FoundationNetworking)
        // On Linux, only this call writes the values.
        defaults.synchronize()
        #endif
    }
}
