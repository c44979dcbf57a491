// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

extension Provider {
    /// Returns the request of a target as a text, without sending it, so that a test shows each change of what is sent:
    ///
    /// ```swift
    /// #expect(try await provider.snapshot(of: .search("tea")) == """
    ///     GET /products?q=tea
    ///     Accept: application/json
    ///     Host: shop.example
    ///     """)
    /// ```
    ///
    /// The request goes through the provider's closures, options, plugins and cookies. Plugins that count, delay, admit
    /// or observe calls, by their place, aren't called; the other ones get a `didFinish` with a cancellation. One that
    /// adds credentials may refresh them.
    ///
    /// The header fields are sorted by name; the URL of an unencrypted request includes the scheme. The body follows
    /// an empty line: JSON with sorted keys, the items of a form decoded, one in a line, the parts of a multipart body
    /// with the boundary `boundary`, other text as it is, and the size and digest of other bytes. Secrets are redacted.
    ///
    /// - Parameters:
    ///   - target: The call.
    ///   - options: Override the target's and the provider's options; default: none.
    ///   - omitted: Header fields to leave out, for example those with a time stamp; default: none.
    /// - Throws: ``TargetKitError`` if the request couldn't be built; the error of the body's source.
    public func snapshot(
        of target: Target,
        options: CallOptions = CallOptions(),
        omitting omitted: Set<HTTPHeaderName> = []
    ) async throws -> String {
        let unsent = try await unsentRequest(of: target, options: options)
        var request = RedactedRequest(
            try RecordedRequest(unsent.request),
            by: Redaction().adding(unsent.request.secretHeaders)
        )
        request.headers.fields.removeAll { omitted.contains($0.name) }
        return request.text
    }
}
