// SPDX-License-Identifier: MIT

extension Provider {
    /// Makes many calls, some at a time, and gives their outcomes as they come. One that fails does not end the others.
    ///
    /// ```swift
    /// for await outcome in provider.requests(ids.map(Catalog.product), maxConcurrent: 6) {
    ///     show(try? outcome.result.get(), at: outcome.index)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - targets: The calls, started in this order.
    ///   - maxConcurrent: How many run at a time; less than 1 counts as 1.
    ///   - inOrder: Whether the outcomes come in the order of the targets. Default: no, each as soon as it is there.
    public func requests(
        _ targets: some Sequence<Target>,
        maxConcurrent: Int,
        inOrder: Bool = false
    ) -> RequestOutcomes<Target> {
        RequestOutcomes(Array(targets), limit: maxConcurrent, isInOrder: inOrder) { target in
            do throws(TargetKitError) {
                return .success(try await self.request(target))
            } catch {
                return .failure(error)
            }
        }
    }
}
