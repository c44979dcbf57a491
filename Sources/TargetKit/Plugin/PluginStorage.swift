// SPDX-License-Identifier: MIT

/// Where one plugin keeps a value in the context of each call.
///
/// A ``RequestContextKey`` is a type, so two plugins of one type in a provider would share what they store. Each plugin with a
/// storage of its own has a value of its own.
package final class PluginStorage<Value: Sendable>: Sendable {
    /// A storage without values.
    package init() {}
}

extension RequestContext {
    /// What the plugin has stored, for as long as the call or the exchange runs; `nil` until it is set.
    package subscript<Value: Sendable>(storage: PluginStorage<Value>) -> Value? {
        get { handle.stored(ObjectIdentifier(storage)) as? Value }
        nonmutating set { handle.store(newValue, for: ObjectIdentifier(storage)) }
    }
}
