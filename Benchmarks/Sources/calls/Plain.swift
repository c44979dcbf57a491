// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// A call without parameters.
struct Plain: TargetType {
    let baseURL: URL
    let page: Int
    var path: RequestPath { "/products/\(page)" }
}
