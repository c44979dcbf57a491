// SPDX-License-Identifier: MIT

/// Which call a plugin's hook is about.
public struct RequestContext: Sendable {
    /// Tells calls apart; the same at each attempt of one call.
    public struct ID: Sendable, Hashable, CustomStringConvertible {
        private let number: UInt64
        private static let last = Locked<UInt64>(0)

        /// An identifier that no other call of this process has.
        static func next() -> ID {
            ID(
                number: last.withLock { number in
                    number += 1
                    return number
                }
            )
        }

        /// The call's number in this process, from 1.
        public var description: String { String(number) }
    }

    /// What does not change from attempt to attempt; in one place, since a context is copied from step to step.
    private final class Call: Sendable {
        let id: ID
        let target: any TargetType
        let scope: RequestScope

        init(id: ID, target: any TargetType, scope: RequestScope) {
            self.id = id
            self.target = target
            self.scope = scope
        }
    }

    private let call: Call
    /// Tells calls apart; the same at each attempt of one call.
    public var id: ID { call.id }
    /// The target of the call; for a ``MultiTarget`` the one inside.
    public var target: any TargetType { call.target }
    /// 0 at the first attempt, 1 at the first repetition, …
    public internal(set) var attempt: Int
    /// The scope that the call belongs to.
    public var scope: RequestScope { call.scope }
    /// Whether the attempt's body is not in its `URLRequest`: a file, or a form with files.
    package internal(set) var isBodyReadAsItIsSent = false
    /// Takes note of the plugins whose hook is the default; `nil` when that is known.
    private(set) var idleHooks: IdleHooks?

    /// The context of a call's first attempt; the target is the one inside already.
    init(of target: any TargetType, scope: RequestScope) {
        call = Call(id: .next(), target: target, scope: scope)
        attempt = 0
    }

    /// A context made by hand, to test a plugin by itself.
    public init(target: any TargetType, attempt: Int, scope: RequestScope = RequestScope()) {
        self.init(of: target.innermost, scope: scope)
        self.attempt = attempt
    }

    /// This context for the first round of a hook, in which is seen which plugins have it.
    func watched(by idleHooks: IdleHooks) -> RequestContext {
        var context = self
        context.idleHooks = idleHooks
        return context
    }
}

extension RequestContext: CustomStringConvertible, CustomReflectable {
    /// The call, its attempt, and its target without associated values, which can be secrets.
    public var description: String { "call \(id), attempt \(attempt), \(target.name)" }

    /// Reflects only the description, so `dump` omits the target's associated values.
    public var customMirror: Mirror { Mirror(describing: self) }
}
