// SPDX-License-Identifier: MIT
import TargetKit

extension Provider {
    /// Returns the request of a target as text without sending it, so that a test shows each change of the request:
    ///
    /// ```swift
    /// #expect(try await provider.snapshot(of: .search("tea")) == """
    ///     GET /products?q=tea
    ///     Accept: application/json
    ///     Host: shop.example
    ///     """)
    /// ```
    ///
    /// The provider's closures, options, plugins and cookies apply to the request. Plugins whose place is for counting,
    /// delaying, admitting or observing calls aren't called; the others receive `didFinish` with a cancellation. A
    /// plugin that adds credentials may refresh them.
    ///
    /// The header fields are sorted by name, and the URL of an unencrypted request includes the scheme. The body
    /// follows an empty line: JSON with sorted keys, decoded form items on separate lines, the parts of a multipart
    /// body with the boundary `boundary`, unchanged other text, or the size and digest of other bytes. Secrets are
    /// redacted.
    ///
    /// - Parameters:
    ///   - target: The call.
    ///   - options: Override the target's and the provider's options; default: none.
    ///   - omitted: The header fields to omit, for example fields with a time stamp; default: none.
    /// - Throws: ``TargetKitError`` if the request can't be built, or the error of the body's source.
    public func snapshot(
        of target: Target,
        options: CallOptions = CallOptions(),
        omitting omitted: Set<HTTPHeaderName> = []
    ) async throws -> String {
        let unsent = try await unsentRequest(of: target, options: options)
        var request = RedactedRequest(
            try RecordedRequest(unsent),
            by: Redaction().adding(unsent.secretHeaders)
        )
        request.headers.fields.removeAll { omitted.contains($0.name) }
        return request.text
    }
}
