// SPDX-License-Identifier: MIT
import TargetKit

nonisolated struct NewOrder: RequestModel { var product: String }

nonisolated struct Order: ResponseModel {
    var id: String
    var total: Double
}

nonisolated enum Orders: RoutedTarget {
    case latest
    case order(id: String)
    case place(NewOrder)

    var baseURL: URL { URL(filePath: "/") }

    var route: Route {
        switch self {
        case .latest: .get("/orders")
        case .order(let id): .get("/orders/\(id)")
        case .place(let order): .post("/orders", .json(order))
        }
    }
}
