// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitJSON
import TargetKitPlugins
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

enum Servers {
    static let api = URL(string: "https://api.shop.example/v1") ?? URL(filePath: "/")
}

struct Product: ResponseModel, Hashable {
    var id: Int
    var name: String
}

enum ShopAPI: RoutedTarget {
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

    var route: Route {
        switch self {
        case .signIn(let user, let password): .post("/session", .json(["user": user, "password": password]))
        case .refresh(let token): .post("/session/refresh", .json(["refresh": token]))
        case .signOut: .delete("/session")
        case .profile: .get("/profile")
        case .products(let page): .get("/products", .query(["page": page]))
        case .search(let text): .get("/products", .query(["q": text]))
        case .order(let product): .post("/orders", .json(["product": product]))
        case .upload(let form): .post("/photos", .multipart(form))
        case .part(let upload, let number, let data): .put("/uploads/\(upload)/\(number)", .data(data))
        case .download(let name, let file): .get("/files/\(name)", .download(to: file))
        case .chat(let question): .post("/chat", .json(["question": question]))
        }
    }

    var options: CallOptions {
        switch self {
        case .signIn, .refresh: .setting(\.authorization, .none).setting(\.endsSessionOnUnauthorized, false)
        default: .init()
        }
    }

    var sampleData: Data {
        Data(#"{"code":0,"message":"ok","data":[{"id":7,"name":"Green tea"}]}"#.utf8)
    }
}

extension StubTransport {
    /// Answers each request with status 200 and a text.
    static func texts(_ text: @escaping @Sendable (URLRequest) -> String) -> StubTransport {
        StubTransport { .response(status: 200, data: Data(text($0.urlRequest).utf8)) }
    }
}

@Suite("Page: recipes", .throttled, .timeLimit(.minutes(2)))
struct RecipesPageTests {
    @Test("The API and a provider with what most apps need")
    func overview() async throws {
        do {
            let provider = Provider<ShopAPI>(
                plugins: [DefaultHeadersPlugin(), RetryPlugin(), NetworkLoggerPlugin()],
                options: .setting(\.envelope, CodeMessageData()).setting(\.timeout, .wholeCall(.seconds(60)))
            )
            #expect(provider.scope.inFlightCount == 0)
        }
        let provider = Provider<ShopAPI>(
            stubClosure: { _ in .immediate },
            options: .setting(\.envelope, CodeMessageData())
        )
        let products = try await provider.request(.products(page: 1), as: [Product].self)
        #expect(products == [Product(id: 7, name: "Green tea")])
    }

    @Test("Each recipe has code and notes", arguments: ["Session", "Request", "Screen"])
    func shape(page: String) throws {
        let text = try DocumentationPage("Sources/Plugins/TargetKitPlugins.docc/\(page)Recipes.md").text()
        let recipes = text.components(separatedBy: "\n## ").dropFirst(2)
        #expect(recipes.count > 10)
        for recipe in recipes where !recipe.hasPrefix("Fill in the privacy manifest") {
            let isTable = recipe.contains("\n| before | now |")
            #expect(recipe.contains("```swift") || isTable, "\(recipe.prefix(60))")
            #expect(recipe.contains("\n- ") || isTable, "\(recipe.prefix(60))")
        }
    }
}
