// SPDX-License-Identifier: MIT

extension Provider {
    /// Moya's name; the stub closure is `{ _ in .never }` by default.
    @available(*, unavailable, message: "omit the argument, or pass { _ in .never }")
    public static func neverStub(_ target: Target) -> StubBehavior { .never }

    /// Moya's name; use a closure.
    @available(*, unavailable, message: "pass { _ in .immediate }")
    public static func immediatelyStub(_ target: Target) -> StubBehavior { .immediate }

    /// Moya's name; use a closure.
    @available(*, unavailable, message: "pass { _ in .delayed(.seconds(1)) }")
    public static func delayedStub(_ seconds: Double) -> @Sendable (Target) -> StubBehavior { { _ in .immediate } }

    /// CombineMoya's name; use `responsePublisher(for:)` of TargetKitCombine.
    @available(*, unavailable, message: "use responsePublisher(for:) of TargetKitCombine, or await request(_:)")
    public func requestPublisher(_ target: Target) -> Never? { nil }

    /// CombineMoya's name; use `eventPublisher(for:)` of TargetKitCombine.
    @available(*, unavailable, message: "use eventPublisher(for:) of TargetKitCombine, or events(for:)")
    public func requestWithProgressPublisher(_ target: Target) -> Never? { nil }
}
