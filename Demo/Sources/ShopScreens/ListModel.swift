// SPDX-License-Identifier: MIT
import Foundation
import Observation
import ShopAPI
import TargetKit
import TargetKitOffline

/// The products, also without a network: then they are from the cache.
@available(iOS 17, macOS 14, *)
@MainActor @Observable
public final class ListModel {
    /// What the person looks for; empty: all products.
    public var searchText = ""
    /// The products that were found last.
    package private(set) var products: [Product] = []
    /// Whether the server is being asked.
    public private(set) var isLoading = false
    /// Whether the products are old, because the server can't be reached.
    public private(set) var isStale = false
    /// Why there are no products, for the person.
    public private(set) var message: String?

    private let client: ShopClient
    private var loads = 0

    package init(_ client: ShopClient) {
        self.client = client
    }

    /// Loads the products. The result of an older load is dropped.
    public func load() async {
        loads += 1
        let load = loads
        isLoading = true
        defer { if load == loads { isLoading = false } }
        do throws(TargetKitError) {
            let target = searchText.isEmpty ? Catalog.products : .search(Search(q: searchText))
            let response = try await client.catalog.request(target, options: .setting(\.cachePolicy, .staleOnFailure))
            let found = try response.decode([Product].self, atKeyPath: "items")
            guard load == loads else { return }
            products = found
            if case .stale = response.origin { isStale = true } else { isStale = false }
            message = nil
        } catch {
            guard load == loads, error.stage != .cancelled else { return }
            message = error.localizedDescription
        }
    }
}
