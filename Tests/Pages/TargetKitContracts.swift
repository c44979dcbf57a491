// SPDX-License-Identifier: MIT
import TargetKit

nonisolated enum Catalog: TargetType, Equatable {
    case products
    case product(id: Int)

    var baseURL: URL { URL(filePath: "/shop") }
    var path: RequestPath { "/products" }
}

nonisolated struct Product: ResponseModel {
    var id: Int
    var name: String
}
