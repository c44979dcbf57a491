// SPDX-License-Identifier: MIT
import TargetKit

nonisolated enum Servers {
    static let api = URL(string: "https://api.shop.example/v1") ?? URL(filePath: "/")
}

nonisolated struct Product: ResponseModel, Hashable {
    var id: Int
    var name: String
}

nonisolated enum ShopAPI: RoutedTarget {
    case signIn(user: String, password: String)
    case refresh(token: String)
    case signOut
    case profile
    case products(page: Int)
    case search(text: String)
    case order(product: Int)
    case upload(MultipartForm)
    case part(upload: String, number: Int, Data)
    case download(name: String, to: URL)
    case chat(question: String)

    var baseURL: URL { Servers.api }
    var route: Route { .get("/") }
}

nonisolated let transport = StubTransport(.response(status: 200, data: Data()))
