// SPDX-License-Identifier: MIT
import TargetKitMoya

nonisolated enum Tea: TargetType {
    case today
    case member(name: String)

    var baseURL: URL { URL(fileURLWithPath: "/") }
    var path: String { "" }
    var method: Moya.Method { .get }
    var task: Task { .requestPlain }
    var headers: [String: String]? { nil }
}

nonisolated let provider = MoyaProvider<Tea>()
