// SPDX-License-Identifier: MIT
import TargetKit

/// Identifies a plugin and its copies. Two plugins of one type keep their values in the context of a call apart by it.
final class PluginIdentity: Sendable {}

extension RequestContext {
    /// What one of several plugins of a type keeps in the context of a call.
    subscript<Key: RequestContextKey, Value>(key: Key.Type, of plugin: PluginIdentity) -> Value?
    where Key.Value == [ObjectIdentifier: Value] {
        get { self[key]?[ObjectIdentifier(plugin)] }
        nonmutating set {
            var values = self[key] ?? [:]
            values[ObjectIdentifier(plugin)] = newValue
            self[key] = values.isEmpty ? nil : values
        }
    }
}
