// SPDX-License-Identifier: MIT

/// A key for a value that a plugin stores in the context of a call.
///
/// ```swift
/// enum StartKey: RequestContextKey {
///     typealias Value = ContinuousClock.Instant
/// }
///
/// func willSend(_ request: URLRequest, context: RequestContext) {
///     context[StartKey.self] = .now
/// }
/// ```
public protocol RequestContextKey: Sendable {
    /// The type of the value.
    associatedtype Value: Sendable
}

/// The call for which the provider runs a plugin's hook.
public struct RequestContext: Sendable {
    /// The identifier of a call or a shared exchange, equal for all attempts.
    public struct ID: Sendable, Hashable, CustomStringConvertible {
        private let number: UInt64
        private static let last = Locked<UInt64>(0)

        /// An identifier that is unique in this process.
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

    /// The properties that all attempts share.
    private final class Fixed: Sendable {
        let id = ID.next()
        let target: any TargetType
        let scope: RequestScope
        let options: CallOptions
        let secretHeaders: Set<HTTPHeaderName>
        let handle: RequestHandle

        init(
            target: any TargetType,
            scope: RequestScope,
            options: CallOptions,
            secretHeaders: Set<HTTPHeaderName>,
            handle: RequestHandle
        ) {
            self.target = target
            self.scope = scope
            self.options = options
            self.secretHeaders = secretHeaders
            self.handle = handle
        }
    }

    private let fixed: Fixed
    /// The identifier of the call or the shared exchange, equal for all attempts.
    public var id: ID { fixed.id }
    /// The target of the call; for a ``MultiTarget``, the wrapped target.
    public var target: any TargetType { fixed.target }
    /// The number of the attempt: 0 for the first, 1 for the first retry, and so on.
    public internal(set) var attempt: Int
    /// The scope that the call belongs to.
    public var scope: RequestScope { fixed.scope }
    /// The options of the provider, the target and the call.
    public var options: CallOptions { fixed.options }
    /// The time until the call's ``CallTimeout/wholeCall(_:)`` expires, by the provider's clock; `nil` without that
    /// limit. A plugin shouldn't begin a longer wait. For a shared exchange, the time of the call that began it.
    public var remainingTime: Duration? { handle.deadline?.remainingTime }
    /// The header fields that contain secrets, from ``HeaderRedaction/standard`` and all plugins of the provider.
    public var secretHeaders: Set<HTTPHeaderName> { fixed.secretHeaders }
    /// The body that the transport reads while sending; `nil` if the `URLRequest` contains the body.
    public var bodyOutsideRequest: TransportRequest.Body? {
        handle.prepared.flatMap { $0.body.isStreamed ? $0.body : nil }
    }
    /// The request of the last attempt, after the plugins' `prepare` and before any redirect; `nil` until it is prepared.
    package var preparedRequest: URLRequest? { handle.prepared?.urlRequest }
    /// This context, with the number of the last attempt.
    var ofLastAttempt: RequestContext {
        var context = self
        context.attempt = handle.attempt
        return context
    }

    /// Whether a retry is safe even if the server processed this attempt. The task's driver decides, with
    /// ``TransferState/isRepeatable``; otherwise, every request that was sent must have an idempotent method (RFC 9110
    /// §9.2.2) or an `Idempotency-Key`. A plugin that retries calls must respect it, unless the failure shows that the
    /// server didn't process the request.
    public var isRepeatable: Bool {
        if let isRepeatable = transfer?.isRepeatable { return isRepeatable }
        return handle.processedCount == 0
            && preparedRequest?.isRepeatable() ?? HTTPMethod.idempotent.contains(target.method)
    }

    package var handle: RequestHandle { fixed.handle }

    /// Creates the context of a call's first attempt. `target` must not be a ``MultiTarget``.
    init(
        inner target: any TargetType,
        scope: RequestScope,
        options: CallOptions,
        secretHeaders: Set<HTTPHeaderName>,
        handle: RequestHandle
    ) {
        fixed = Fixed(
            target: target,
            scope: scope,
            options: options,
            secretHeaders: secretHeaders,
            handle: handle
        )
        attempt = 0
    }

    /// Creates a context, to test a plugin.
    ///
    /// - Parameters:
    ///   - target: The target of the call.
    ///   - attempt: The number of the attempt; default 0.
    ///   - scope: The scope of the call; default: a new scope.
    ///   - options: The options of the call, without the target's options; default: none.
    ///   - secretHeaders: The header fields that contain secrets; default: ``HeaderRedaction/standard``.
    public init(
        target: any TargetType,
        attempt: Int = 0,
        scope: RequestScope = RequestScope(),
        options: CallOptions = CallOptions(),
        secretHeaders: Set<HTTPHeaderName> = HeaderRedaction.standard.secretNames
    ) {
        let options = target.options.overridden(by: options)
        self.init(
            inner: target.innermost,
            scope: scope,
            options: options,
            secretHeaders: secretHeaders,
            handle: RequestHandle(deadline: options.timeout.deadline(by: ElapsedTime(ContinuousClock())))
        )
        self.attempt = attempt
    }

    /// Returns the context of an exchange that this call begins.
    ///
    /// - Parameter stored: The plugins' initial values; default `nil`, which means the current values.
    func ofExchange(_ handle: RequestHandle, stored: [StoredEntry]? = nil) -> RequestContext {
        let (values, movedOrigin) = fixed.handle.state.withLock { ($0.storage, $0.movedOrigin) }
        handle.state.withLock { state in
            (state.storage, state.attempt, state.movedOrigin) = (stored ?? values ?? [], attempt, movedOrigin)
        }
        var context = RequestContext(
            inner: target,
            scope: scope,
            options: options,
            secretHeaders: secretHeaders,
            handle: handle
        )
        context.attempt = attempt
        return context
    }
}

extension Response {
    /// Creates the response of a call from a transport's response, for a plugin that replaces a failure.
    ///
    /// - Throws: `URLError(.cannotParseResponse)` if the body is a stream.
    public init(_ response: TransportResponse, to request: TransportRequest, of context: RequestContext) throws {
        try self.init(response, to: request.urlRequest, of: context.target, decoder: context.options.decoder)
    }
}

extension RequestContext: RedactedDescription {
    /// The call, its attempt, and its target without associated values, which may be secrets.
    var redactedDescription: String { "call \(id), attempt \(attempt), \(target.name)" }
}

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

/// A driver's report about a transfer, for plugins that retry.
public struct TransferState: Sendable, Hashable {
    /// Whether a retry is safe even if the server processed the last request; `nil` if that depends on the request.
    public var isRepeatable: Bool?
    /// The number of bytes that another attempt doesn't transfer again; `nil` if it starts over.
    public var continuedByteCount: Int64?
    /// The reason why bytes that an earlier attempt or call stored aren't continued, in one line without secrets; `nil`
    /// if they are, or there are none.
    public var dropReason: String?

    /// Creates a state.
    public init(isRepeatable: Bool? = nil, continuedByteCount: Int64? = nil, dropReason: String? = nil) {
        self.isRepeatable = isRepeatable
        self.continuedByteCount = continuedByteCount
        self.dropReason = dropReason
    }
}

extension RequestContext {
    /// The state of the transfer; `nil` without a driver, or if the driver didn't report one.
    public var transfer: TransferState? {
        get { self[TransferStateKey.self] }
        nonmutating set { self[TransferStateKey.self] = newValue }
    }
}

private enum TransferStateKey: RequestContextKey { typealias Value = TransferState }
