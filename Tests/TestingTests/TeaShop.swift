// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// The API that most tests call.
enum TeaShop: TargetType, Equatable {
    case product(id: Int)
    case search(String, page: Int = 1)
    case order(count: Int)

    var baseURL: URL { URL(string: "https://shop.example/v1") ?? URL(fileURLWithPath: "/") }

    var path: RequestPath {
        switch self {
        case .product(let id): "/products/\(id)"
        case .search: "/search"
        case .order: "/orders"
        }
    }

    var method: HTTPMethod {
        if case .order = self { .post } else { .get }
    }

    var task: HTTPTask {
        switch self {
        case .product: .plain
        case .search(let text, let page): .parameters(["q": text, "page": page], encoding: .url)
        case .order(let count): .json(["count": count])
        }
    }

    var sampleData: Data { Data(#"{"id":1}"#.utf8) }

    func sampleResponse(in scenario: String) -> SampleResponse? {
        scenario == "out of stock" ? .response(status: 404, data: Data()) : nil
    }
}

/// A target that cannot be Equatable.
enum Uploads: TargetType {
    case avatar(@Sendable () -> Int)
    case other

    var baseURL: URL { URL(string: "https://upload.example") ?? URL(fileURLWithPath: "/") }
    var path: RequestPath { "/uploads" }
}

extension Provider {
    /// The result of a call.
    func result(
        _ target: Target,
        options: CallOptions = CallOptions()
    ) async -> Result<Response, TargetKitError> {
        do {
            return .success(try await request(target, options: options))
        } catch {
            return .failure(error)
        }
    }
}
