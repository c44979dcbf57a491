// SPDX-License-Identifier: MIT

/// A plugin instance's key for a value in the context of each call.
///
/// A ``RequestContextKey`` is a type, so two plugins of one type share its value. Plugins with separate storages have
/// separate values.
///
/// ```swift
/// struct StopwatchPlugin: Plugin {
///     private let start = PluginStorage<ContinuousClock.Instant>()
///
///     func willSend(_ request: URLRequest, context: RequestContext) { context[start] = .now }
/// }
/// ```
public final class PluginStorage<Value: Sendable>: Sendable {
    /// Creates a key.
    public init() {}
}

/// A value of a context, of any type.
@usableFromInline protocol StoredValue: AnyObject, Sendable {}

/// A value of a context. It is a class because casting to a final class costs less than casting an existential value.
@usableFromInline
final class StoredBox<Value: Sendable>: StoredValue {
    @usableFromInline let value: Value

    @inlinable
    init(_ value: Value) {
        self.value = value
    }
}

/// A context has few values, so they are searched in order.
struct StoredEntry: Sendable {
    let key: ObjectIdentifier
    var value: any StoredValue
}

// Inlinable, because the plugins are in another module.
extension RequestContext {
    /// The plugin's value, released when the call or the exchange ends; `nil` until it is set.
    @inlinable
    public subscript<Value: Sendable>(storage: PluginStorage<Value>) -> Value? {
        get { (stored(ObjectIdentifier(storage)) as? StoredBox<Value>)?.value }
        nonmutating set { store(newValue.map { StoredBox($0) }, for: ObjectIdentifier(storage)) }
    }

    /// The value stored for a key, released when the call or the exchange ends; `nil` until it is set.
    @inlinable
    public subscript<Key: RequestContextKey>(key: Key.Type) -> Key.Value? {
        get { (stored(ObjectIdentifier(key)) as? StoredBox<Key.Value>)?.value }
        nonmutating set { store(newValue.map { StoredBox($0) }, for: ObjectIdentifier(key)) }
    }

    @usableFromInline
    func stored(_ key: ObjectIdentifier) -> (any StoredValue)? { handle.stored(key) }

    @usableFromInline
    func store(_ value: (any StoredValue)?, for key: ObjectIdentifier) { handle.store(value, for: key) }
}
