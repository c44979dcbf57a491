// SPDX-License-Identifier: MIT

/// A value of a type that predates `Sendable`, which calls pass between threads.
///
/// It is `@unchecked Sendable`, because Moya's protocols, closures and classes predate `Sendable`, so the compiler
/// can't check them. Moya's own rules apply: a target is read on the caller's thread, the hooks of one call never run
/// at the same time, and a caller's closures run on its queue. As with Moya, a plugin that several calls share must
/// protect its own state.
struct Unchecked<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}

extension Unchecked {
    /// A throwing function that can be called on any thread.
    func function<Argument, Result>() -> @Sendable (Argument) throws -> Result
    where Value == (Argument) throws -> Result {
        { try value($0) }
    }

    /// A function that can be called on any thread.
    func function<Argument, Result>() -> @Sendable (Argument) -> Result where Value == (Argument) -> Result {
        { value($0) }
    }
}
