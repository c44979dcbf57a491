// SPDX-License-Identifier: MIT
import Measuring
import TargetKitMoya

/// ``Search`` as a target of Moya, in a file that imports only its module: TargetKit's types have the same names.
private struct MoyaSearch: TargetType {
    let baseURL: URL
    let page: Int
    var path: String { "/products/search" }
    var method: Moya.Method { .get }
    var headers: [String: String]? { ["Accept": "application/json", "X-Client": "benchmark/1"] }
    var task: Task {
        .requestParameters(
            parameters: ["query": "green tea", "page": page, "sort": "price", "stock": true, "city": "Zürich"],
            encoding: URLEncoding.queryString
        )
    }
    var validationType: ValidationType { .successCodes }
}

/// Stubbed calls through `MoyaProvider`, one after another.
struct MoyaCalls: Sendable {
    let base: URL
    private let provider = MoyaProvider<MoyaSearch>(stubClosure: MoyaProvider.immediatelyStub)

    init(base: URL) {
        self.base = base
    }

    func run(_ count: Int) {
        for page in 0..<count {
            provider.request(MoyaSearch(baseURL: base, page: page)) { keep($0) }
        }
    }
}
