// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// A call with five URL parameters and two header fields.
public struct Search: TargetType {
    /// The server's URL.
    public let baseURL: URL
    /// A parameter that differs from call to call.
    let page: Int

    /// A search on a server.
    public init(baseURL: URL, page: Int) {
        self.baseURL = baseURL
        self.page = page
    }

    /// The same for every call.
    public var path: RequestPath { "/products/search" }
    /// Two fields.
    public var headers: HTTPHeaders { ["Accept": "application/json", "X-Client": "benchmark/1"] }
    /// Five parameters, one of which has to be escaped.
    public var task: HTTPTask {
        .parameters(["query": "green tea", "page": page, "sort": "price", "stock": true, "city": "Zürich"])
    }
}
