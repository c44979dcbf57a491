// SPDX-License-Identifier: MIT
import Foundation

/// Keeps the choice of an environment in the user defaults.
public struct UserDefaultsEnvironmentStorage: EnvironmentStorage {
    private let suiteName: String?
    private let key: String

    /// Storage under that key.
    ///
    /// - Parameters:
    ///   - suiteName: The suite, an app group for one; default: the app's own defaults.
    ///   - key: The key. The defaults show a launch argument of that name as if it had been stored; it is not taken for that.
    public init(suiteName: String? = nil, key: String = "TargetKit.environment") {
        self.suiteName = suiteName
        self.key = key
    }

    // Made at each call, which are few: not every Foundation lets it be shared between threads.
    private var defaults: UserDefaults { suiteName.flatMap { UserDefaults(suiteName: $0) } ?? .standard }

    /// The name in the defaults.
    public func load() -> ServerEnvironment.Name? {
        let defaults = defaults
        let isHidden = defaults.volatileDomain(forName: UserDefaults.argumentDomain)[key] != nil
        let name =
            isHidden ? defaults.persistentDomain(forName: domain)?[key] as? String : defaults.string(forKey: key)
        return name.map { ServerEnvironment.Name(rawValue: $0) }
    }

    /// Where ``save(_:)`` writes to.
    private var domain: String {
        suiteName ?? Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
    }

    /// Writes the name into the defaults.
    public func save(_ name: ServerEnvironment.Name?) {
        let defaults = defaults
        if let name { defaults.set(name.rawValue, forKey: key) } else { defaults.removeObject(forKey: key) }
        #if canImport(FoundationNetworking)
        // On Linux nothing is written before it is asked for.
        defaults.synchronize()
        #endif
    }
}
