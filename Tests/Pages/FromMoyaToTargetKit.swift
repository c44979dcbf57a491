// SPDX-License-Identifier: MIT
import TargetKitMoya

enum Tea: TargetType {
    case today
    case member(name: String)

    var baseURL: URL { URL(fileURLWithPath: "/") }
    var path: String { "" }
    var method: Moya.Method { .get }
    var task: Task { .requestPlain }
    var headers: [String: String]? { nil }
}

let provider = MoyaProvider<Tea>()
