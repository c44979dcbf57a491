// SPDX-License-Identifier: MIT

/// Where an ``EnvironmentStore`` keeps the choice from one start of the app to the next.
///
/// The store calls it one call at a time, with no lock held, and keeps the last choice.
public protocol EnvironmentStorage: Sendable {
    /// The name that was stored last; `nil` when none was, or it was taken back. Is called once, when the store is made.
    func load() -> ServerEnvironment.Name?

    /// Stores a name; `nil` takes it back.
    func save(_ name: ServerEnvironment.Name?)
}
