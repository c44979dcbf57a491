// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

enum TeaAPI: TargetType {
    case today
    case member(name: String)

    var baseURL: URL { Tea.today.baseURL }

    var path: RequestPath {
        switch self {
        case .today: "/today"
        case .member(let name): "/members/\(name)"
        }
    }

    var headers: HTTPHeaders { ["Accept": "application/json"] }
    var validation: StatusValidation { .none }

    var sampleData: Data { Data(#"{"name":"Ann"}"#.utf8) }
}
