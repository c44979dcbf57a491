// SPDX-License-Identifier: MIT
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// The declarations of RxSwift 6 that the pages use.

public struct Reactive<Base> {
    public let base: Base

    public init(_ base: Base) {
        self.base = base
    }
}

public protocol ReactiveCompatible {}

extension ReactiveCompatible {
    public var rx: Reactive<Self> { Reactive(self) }
}

public protocol Disposable {
    func dispose()
}

public struct Disposables {
    private struct Action: Disposable {
        let action: () -> Void

        func dispose() { action() }
    }

    public static func create(with dispose: @escaping () -> Void) -> any Disposable { Action(action: dispose) }
}

public enum SingleTrait {}

public typealias Single<Element> = PrimitiveSequence<SingleTrait, Element>

public struct PrimitiveSequence<Trait, Element> {
    let subscribe: (@escaping (Result<Element, any Error>) -> Void) -> any Disposable
}

extension PrimitiveSequence where Trait == SingleTrait {
    public typealias SingleObserver = (Result<Element, any Error>) -> Void

    public static func create(subscribe: @escaping (@escaping SingleObserver) -> any Disposable) -> Single<Element> {
        Single(subscribe: subscribe)
    }

    public func map<Value>(_ transform: @escaping (Element) throws -> Value) -> Single<Value> {
        Single<Value> { observer in
            subscribe { result in observer(result.flatMap { element in Result { try transform(element) } }) }
        }
    }
}
