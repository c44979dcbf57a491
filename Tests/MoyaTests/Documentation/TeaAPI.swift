// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

enum TeaAPI: TargetType {
    case today
    case member(name: String)

    // swift-format-ignore: NeverForceUnwrap
    var baseURL: URL { URL(string: "https://tea.example.com")! }

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
