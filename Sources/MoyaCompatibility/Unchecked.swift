// SPDX-License-Identifier: MIT

/// A value of a type from before `Sendable` that calls carry across threads.
///
/// It is `@unchecked Sendable` because Moya's protocols, closures and classes predate `Sendable`, so that the compiler
/// can't check them. The rules are Moya's own: a target is read on the caller's thread, the hooks of one call never run
/// at the same time, and the closures of a caller run on its queue. A plugin that several calls share protects its own
/// state, as it had to with Moya.
struct Unchecked<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}

extension Unchecked {
    /// A throwing function that can be called by any thread.
    func function<Argument, Result>() -> @Sendable (Argument) throws -> Result
    where Value == (Argument) throws -> Result {
        { try value($0) }
    }

    /// A function that can be called by any thread.
    func function<Argument, Result>() -> @Sendable (Argument) -> Result where Value == (Argument) -> Result {
        { value($0) }
    }
}
