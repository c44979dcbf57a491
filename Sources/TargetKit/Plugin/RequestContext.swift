// SPDX-License-Identifier: MIT

/// A value that a plugin keeps in the context of a call.
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
public protocol RequestContextKey {
    /// The type of the value.
    associatedtype Value: Sendable
}

/// The call that a plugin's hook is about.
public struct RequestContext: Sendable {
    /// Identifies a call or a shared exchange; the same at each attempt.
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

    /// What is the same at each attempt.
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
    /// Identifies the call or the shared exchange; the same at each attempt.
    public var id: ID { fixed.id }
    /// The target of the call; for a ``MultiTarget`` the one inside.
    public var target: any TargetType { fixed.target }
    /// 0 at the first attempt, 1 at the first repetition, …
    public internal(set) var attempt: Int
    /// The scope that the call belongs to.
    public var scope: RequestScope { fixed.scope }
    /// The options of the provider, the target and the call.
    public var options: CallOptions { fixed.options }
    /// The fields that hold secrets: those of ``HeaderRedaction/standard`` and of all plugins of the provider.
    public var secretHeaders: Set<HTTPHeaderName> { fixed.secretHeaders }
    /// The body that the transport reads while it sends; `nil` when the body is in the `URLRequest`.
    package internal(set) var bodyOutsideRequest: TransportRequest.Body? {
        get { boxedBody?.value }
        set { boxedBody = newValue.map(Boxed.init) }
    }
    private var boxedBody: Boxed<TransportRequest.Body>?

    var handle: RequestHandle { fixed.handle }

    /// What is stored for a plugin, for as long as the call or the exchange runs; `nil` until it is set.
    public subscript<Key: RequestContextKey>(key: Key.Type) -> Key.Value? {
        get { fixed.handle.stored(ObjectIdentifier(key)) as? Key.Value }
        nonmutating set { fixed.handle.store(newValue, for: ObjectIdentifier(key)) }
    }

    /// The context of a call's first attempt; `target` is not a ``MultiTarget``.
    init(
        inner target: any TargetType,
        scope: RequestScope,
        options: CallOptions,
        secretHeaders: Set<HTTPHeaderName>,
        handle: RequestHandle
    ) {
        fixed = Fixed(target: target, scope: scope, options: options, secretHeaders: secretHeaders, handle: handle)
        attempt = 0
    }

    /// A context made by hand, to test a plugin.
    ///
    /// - Parameters:
    ///   - target: The target of the call.
    ///   - attempt: The number of the attempt; default 0.
    ///   - scope: The scope of the call; default: one of its own.
    ///   - options: The options of the call, without those of the target; default: none.
    ///   - secretHeaders: The fields that hold secrets; default: those of ``HeaderRedaction/standard``.
    public init(
        target: any TargetType,
        attempt: Int = 0,
        scope: RequestScope = RequestScope(),
        options: CallOptions = CallOptions(),
        secretHeaders: Set<HTTPHeaderName> = HeaderRedaction.standard.secretNames
    ) {
        self.init(
            inner: target.innermost,
            scope: scope,
            options: target.options.overridden(by: options),
            secretHeaders: secretHeaders,
            handle: RequestHandle()
        )
        self.attempt = attempt
    }

    /// The context of an exchange that this call begins, and may share.
    func ofExchange(_ handle: RequestHandle) -> RequestContext {
        handle.copyStorage(of: fixed.handle)
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

extension RequestContext: ReflectsDescription {
    /// The call, its attempt, and its target without associated values, which can be secrets.
    public var description: String { "call \(id), attempt \(attempt), \(target.name)" }
}
