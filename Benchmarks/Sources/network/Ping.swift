// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// The smallest call: a GET of the server's root.
struct Ping: TargetType {
    let baseURL: URL
    var path: RequestPath { "/" }
    var validation: StatusValidation { .successCodes }
}
