// SPDX-License-Identifier: MIT
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// The declarations of ReactiveSwift 7 that the pages use.

public struct Reactive<Base> {
    public let base: Base

    init(_ base: Base) {
        self.base = base
    }
}

public protocol ReactiveExtensionsProvider {}

extension ReactiveExtensionsProvider {
    public var reactive: Reactive<Self> { Reactive(self) }
}

public final class Lifetime {
    public func observeEnded(_ action: @escaping () -> Void) {}
}

public final class Signal<Value, Error: Swift.Error> {
    public final class Observer {
        public func send(value: Value) {}
        public func send(error: Error) {}
        public func sendCompleted() {}
    }
}

public struct SignalProducer<Value, Error: Swift.Error> {
    public init(_ startHandler: @escaping (Signal<Value, Error>.Observer, Lifetime) -> Void) {}
}
