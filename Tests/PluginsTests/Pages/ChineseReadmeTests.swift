// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitJSON
import TargetKitPlugins
import TargetKitTesting
import TestSupport
import Testing

@Suite("README in Chinese", .throttled, .timeLimit(.minutes(2)))
struct ChineseReadmeTests {
    struct Product: Decodable, Sendable {
        var id: Int
        var name: String
    }

    enum ShopAPI: RoutedTarget {
        case products(page: Int)
        case signIn(user: String, password: String)

        var baseURL: URL { Servers.api }

        var route: Route {
            switch self {
            case .products(let page): .get("/products", .query(["page": page]))
            case .signIn(let user, let password): .post("/session", .json(["user": user, "password": password]))
            }
        }

        // Mock 数据：接口没好也能先开发
        var sampleData: Data { Data(#"{"code":0,"message":"ok","data":[{"id":7,"name":"绿茶"}]}"#.utf8) }
    }

    struct Article: Codable, Sendable {
        @Lenient var id: Int  // 7 和 "7" 都是 7
        @Lenient var title: String  // 缺失或 null 时是 ""
        @LossyArray var tags: [String]  // 跳过解析不了的元素
    }

    /// Package manifests, which cannot be here as code.
    private static let manifests = #"""
        .package(name: "TargetKit", path: "../TargetKit")
        .package(url: "https://<发布地址>/TargetKit.git", from: "<版本号>")
        """#

    @Test("Calls with await and with a closure")
    func calls() async throws {
        do {
            let provider = Provider<ShopAPI>(
                plugins: [NetworkLoggerPlugin(), RetryPlugin()],
                options: .setting(\.envelope, CodeMessageData())
            )
            #expect(provider.scope.inFlightCount == 0)
        }
        let shown = Recorder<String>()
        let toast: @Sendable (String) -> Void = { shown.append($0) }
        let show: @Sendable ([Product]) -> Void = { shown.append($0.map(\.name).joined()) }
        let provider = Provider<ShopAPI>(
            stubClosure: { _ in .immediate },
            options: .setting(\.envelope, CodeMessageData())
        )
        let products = try await provider.request(.products(page: 1), as: [Product].self)
        #expect(products.map(\.name) == ["绿茶"])
        let handle = provider.request(.products(page: 1), as: [Product].self) { result in
            switch result {
            case .success(let products): show(products)
            case .failure(let error) where error.kind == .cancelled: break
            case .failure(let error): toast(error.text(.summary))
            }
        }
        #expect(await shown.waitForCount(1) == ["绿茶"])
        handle.cancel()
    }

    @Test("Models")
    func models() throws {
        let article = try JSONDecoder().decode(Article.self, from: Data(#"{"id":"7","tags":["a",1]}"#.utf8))
        #expect(article.id == 7 && article.title == "" && article.tags == ["a"])
    }

    @Test("It is at most 160 lines long, and every file that it links to exists")
    func links() throws {
        let page = DocumentationPage("README.zh-Hans.md")
        let text = try page.text()
        #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count <= 161)
        let links = text.components(separatedBy: "](").dropFirst().map { $0.components(separatedBy: ")")[0] }
        #expect(links.count > 5)
        for link in links { _ = try DocumentationPage(link).text() }
    }
}
