// SPDX-License-Identifier: MIT

/// A plugin instance's key for a value in the context of each call.
///
/// A ``RequestContextKey`` is a type, so two plugins of the same type would share its value. Plugins with separate
/// storages have separate values.
package final class PluginStorage<Value: Sendable>: Sendable {
    /// Creates an empty storage.
    package init() {}
}

extension RequestContext {
    /// The plugin's value, kept until the call or the exchange ends; `nil` until it is set.
    package subscript<Value: Sendable>(storage: PluginStorage<Value>) -> Value? {
        get { handle.stored(ObjectIdentifier(storage)) as? Value }
        nonmutating set { handle.store(newValue, for: ObjectIdentifier(storage)) }
    }
}
