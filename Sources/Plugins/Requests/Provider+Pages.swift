// SPDX-License-Identifier: MIT
import TargetKit

extension Provider {
    /// The pages of a list, each requested when it is read.
    ///
    /// ```swift
    /// let pages = provider.pages(first: .orders(after: nil), as: OrderPage.self) { page in
    ///     page.cursor.map { .orders(after: $0) }
    /// }
    /// for try await page in pages { show(page.orders) }
    /// ```
    ///
    /// The sequence ends after a page without a successor, and throws a `TargetKitError` if a call fails. Cancelling
    /// the reading task cancels the call. The sequence can be read only once.
    ///
    /// - Parameters:
    ///   - first: The call for the first page.
    ///   - type: The type of a page, decoded from the JSON or from the payload of the call's envelope.
    ///   - options: Override the targets' and the provider's options; default: none.
    ///   - next: Returns the call for the page after this one; `nil` after the last page.
    public func pages<Page: Decodable & Sendable>(
        first: Target,
        as type: Page.Type = Page.self,
        options: CallOptions = CallOptions(),
        next: @escaping @Sendable (Page) -> Target?
    ) -> AsyncThrowingStream<Page, any Error> {
        pages(first: first, next: next) { [self] target in try await request(target, as: type, options: options) }
    }

    /// The pages of a list as responses, for servers that send the link to the next page in a header field.
    ///
    /// - Parameters:
    ///   - first: The call for the first page.
    ///   - options: Override the targets' and the provider's options; default: none.
    ///   - next: Returns the call for the page after this response; `nil` after the last page.
    public func pages(
        first: Target,
        options: CallOptions = CallOptions(),
        next: @escaping @Sendable (Response) -> Target?
    ) -> AsyncThrowingStream<Response, any Error> {
        pages(first: first, next: next) { [self] target in try await request(target, options: options) }
    }

    private func pages<Page: Sendable>(
        first: Target,
        next: @escaping @Sendable (Page) -> Target?,
        page: @escaping @Sendable (Target) async throws -> Page
    ) -> AsyncThrowingStream<Page, any Error> {
        let following = Locked<Target?>(first)
        return AsyncThrowingStream {
            // An error ends the sequence.
            let target = following.withLock { target in
                defer { target = nil }
                return target
            }
            guard let target else { return nil }
            let page = try await page(target)
            let successor = next(page)
            following.withLock { $0 = successor }
            return page
        }
    }
}
