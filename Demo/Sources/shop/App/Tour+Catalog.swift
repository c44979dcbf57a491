// SPDX-License-Identifier: MIT
import ShopAPI
import TargetKit
import TargetKitPlugins

// MARK: - Signing in, and the catalog

extension Tour {
    /// The same target, the same path of the call, but its sample in place of the network.
    func preview() async throws {
        console.step(
            Phrase("Without a network", "不用网络"),
            asks: Phrase(
                "Catalog.products, stubbed: its sampleData is the response",
                "Catalog.products，用 sampleData 作响应"
            )
        )
        let stubbed = Provider<Catalog>(stubClosure: { _ in .immediate })
        let products = try await stubbed.request(.products, as: [Product].self, atKeyPath: "items")
        try check(products.map(\.name) == ["Sencha"], "the sample should have one product")
        products.forEach { console.got(describe($0)) }
    }

    func signIn() async throws {
        console.step(
            Phrase("Sign in", "登录"),
            asks: Phrase("POST /session with a user and a password", "POST /session，用户名和密码")
        )
        try await beginSession()
        console.got(
            Phrase(
                "an access token, sent as Authorization: Bearer, and a refresh token",
                "访问令牌（以 Authorization: Bearer 发送）和刷新令牌"
            )
        )
    }

    func beginSession() async throws {
        try await client.signIn(Credentials(user: "ada", password: "tea"))
    }

    func list() async throws {
        console.step(Phrase("List", "列表"), asks: Phrase(same: "GET /products"))
        let products = try await client.catalog.request(.products, as: [Product].self, atKeyPath: "items")
        try check(!products.isEmpty, "the shop should have something to sell")
        console.got(Phrase("\(products.count) products", "\(products.count) 种商品"))
        products.forEach { console.also(describe($0)) }
    }

    func search() async throws {
        console.step(
            Phrase("Search", "搜索"),
            asks: Phrase(
                #"GET /products for "s & v" and for one green tea, at once"#,
                "GET /products，同时搜索 “s & v” 和一种绿茶"
            )
        )
        async let named = client.catalog.request(.search(Search(q: "s & v")), as: [Product].self, atKeyPath: "items")
        async let green = client.catalog.request(
            .search(Search(tags: ["green"], limit: 1)),
            as: [Product].self,
            atKeyPath: "items"
        )
        let (found, first) = try await (named, green)
        try check(found.map(\.id) == ["rooibos"], "the text should reach the server as it is, & and spaces included")
        try check(first.map(\.id) == ["sencha"], "the tag and the limit should reach the server")
        console.got(describe(found[0]))
        console.also(describe(first[0]))
    }

    /// The server is busy at two of three requests.
    func retry() async throws {
        console.step(
            Phrase("Retry", "重试"),
            asks: Phrase("GET /products/sencha/stock from a busy server", "GET /products/sencha/stock，服务器繁忙")
        )
        let stock = try await client.catalog.request(.availability(id: "sencha"), as: Availability.self)
        console.got(Phrase("\(stock.left) packets of \(stock.product)", "\(stock.product) 还剩 \(stock.left) 包"))
    }
}
