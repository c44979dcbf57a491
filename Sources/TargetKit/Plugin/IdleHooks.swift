// SPDX-License-Identifier: MIT

/// Whose default has been called in one round of a hook.
///
/// Which method a type's hook is does not change, so a default that was called once is the type's hook for ever. A plugin that
/// hands a call on to another one is told apart by the type that the default names, the other one's; and one that calls another
/// hook of it, by the hook.
final class IdleHooks: Sendable {
    /// The hook that the round is of.
    let hook: PluginHook
    private let types = Locked<Set<ObjectIdentifier>>([])

    init(_ hook: PluginHook) {
        self.hook = hook
    }

    /// The default of that type's hook has run.
    func insert(_ type: any Plugin.Type, _ hook: PluginHook) {
        guard hook == self.hook else { return }
        types.withLock { _ = $0.insert(ObjectIdentifier(type)) }
    }

    /// The plugins whose default has not run, in their order.
    func rest(of plugins: [any Plugin]) -> [any Plugin] {
        let types = types.withLock { $0 }
        return plugins.filter { !types.contains(ObjectIdentifier(type(of: $0))) }
    }
}
