// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// The customer's orders.
package enum Orders: ShopTarget {
    case all
    case place(NewOrder)
    /// Takes half a minute.
    case report
    /// An older part of the server: its status is always 200, and its body may contain the code 401.
    case legacy

    package var route: Route {
        switch self {
        case .all: .get("/orders")
        case .place(let order): .post("/orders", .json(order))
        case .report: .get("/orders/report")
        case .legacy: .get("/legacy/orders")
        }
    }

    package var options: CallOptions {
        switch self {
        case .report: .setting(\.timeout, .exchange(.seconds(60)))
        default: .setting(\.timeout, .exchange(.seconds(10)))
        }
    }

    package var sampleData: Data {
        switch self {
        case .all: Data(#"[{"number":1001,"cents":2950}]"#.utf8)
        case .place: Data(#"{"number":1001,"cents":2950}"#.utf8)
        case .report: Data(#"{"orders":1}"#.utf8)
        case .legacy: Data(#"{"status":200,"orders":1}"#.utf8)
        }
    }

    package var sampleResponse: SampleResponse {
        switch self {
        case .place: .response(status: 201, data: sampleData)
        default: .response(status: 200, data: sampleData)
        }
    }
}
