// SPDX-License-Identifier: MIT
import TargetKitMoya

enum Tea {
    case today
    case member(name: String)
}

extension Tea: TargetType {
    // swift-format-ignore: NeverForceUnwrap
    var baseURL: URL { URL(string: "https://tea.example.com")! }

    var path: String {
        switch self {
        case .today: return "/today"
        case .member(let name): return "/members/\(name)"
        }
    }

    var method: Moya.Method { .get }

    var task: Task { .requestPlain }

    var headers: [String: String]? { ["Accept": "application/json"] }

    var sampleData: Data { Data(#"{"name":"Ann"}"#.utf8) }
}
