// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// Where an ``EnvironmentStore`` keeps the choice from one start of the app to the next.
///
/// The store calls it one call at a time, with no lock held, and keeps the last choice.
public protocol EnvironmentStorage: Sendable {
    /// The name that was stored last; `nil` when none was, or it was taken back. Is called once, when the store is made.
    func load() -> ServerEnvironment.Name?

    /// Stores a name; `nil` takes it back.
    func save(_ name: ServerEnvironment.Name?)
}

/// Keeps the choice of an environment as long as it lives itself: for tests, and for an app that always starts with the default.
public struct MemoryEnvironmentStorage: EnvironmentStorage {
    private let name: Locked<ServerEnvironment.Name?>

    /// Storage with that choice; none unless told. Copies share it.
    public init(_ name: ServerEnvironment.Name? = nil) {
        self.name = Locked(name)
    }

    /// The name that it has.
    public func load() -> ServerEnvironment.Name? { name.withLock { $0 } }

    /// Takes the name.
    public func save(_ name: ServerEnvironment.Name?) { self.name.withLock { $0 = name } }
}

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
