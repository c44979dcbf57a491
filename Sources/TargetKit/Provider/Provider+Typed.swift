// SPDX-License-Identifier: MIT

extension Provider where Target: TypedTarget {
    /// Makes a call and decodes what its target says it brings.
    ///
    /// - Throws: ``TargetKitError``; of stage `.decoding`, with the response in it, when the body is not such a value.
    public func request(_ target: Target) async throws(TargetKitError) -> Target.Output {
        try await request(target, as: Target.Output.self, atKeyPath: target.keyPath)
    }
}

extension Provider where Target == MultiTarget {
    /// Makes a call of any target and waits for its response.
    ///
    /// - Throws: ``TargetKitError``; with the default validation no status code is an error.
    public func request(_ target: some TargetType) async throws(TargetKitError) -> Response {
        try await request(MultiTarget(target))
    }

    /// Makes a call and decodes what its target says it brings.
    ///
    /// - Throws: ``TargetKitError``; of stage `.decoding`, with the response in it, when the body is not such a value.
    public func request<Typed: TypedTarget>(_ target: Typed) async throws(TargetKitError) -> Typed.Output {
        try await request(MultiTarget(target), as: Typed.Output.self, atKeyPath: target.keyPath)
    }
}
