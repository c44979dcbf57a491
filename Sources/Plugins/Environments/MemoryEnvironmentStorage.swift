// SPDX-License-Identifier: MIT
import TargetKit

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
