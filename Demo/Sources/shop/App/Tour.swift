// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// The walk through the shop: each step makes calls, says what came back, and checks it.
struct Tour: Sendable {
    let client: ShopClient
    let console: Console
    /// Whether the slow call runs until the person ends it.
    let isHeld: Bool

    func run() async throws {
        try await preview()
        try await signIn()
        let products = try await list()
        try await search()
        try await order(products)
        try await upload()
        try await cancel()
        try await meetUnauthorized()
        try await meetUnauthorizedInBody()
        await finish()
    }

    /// The same target, the same path of the call, but its sample in the network's place.
    private func preview() async throws {
        console.step("Without a network", asks: "Catalog.products, stubbed: its sampleData answers")
        let stubbed = Provider<Catalog>(stubClosure: { _ in .immediate })
        let products = try await stubbed.request(.products, as: [Product].self, atKeyPath: "items")
        try check(products.map(\.name) == ["Sencha"], "the sample should have one product")
        console.got(describe(products[0]))
    }

    private func signIn() async throws {
        console.step("Sign in", asks: "POST /session with a user and a password")
        try await beginSession()
        console.got("a token, which the next calls carry as Authorization: Bearer")
    }

    private func beginSession() async throws {
        let credentials = Credentials(user: "ada", password: "tea")
        client.session.begin(try await client.auth.request(.signIn(credentials), as: SignedIn.self).token)
    }

    private func list() async throws -> [Product] {
        console.step("List", asks: "GET /products")
        let products = try await client.catalog.request(.products, as: [Product].self, atKeyPath: "items")
        try check(!products.isEmpty, "the shop should have something to sell")
        console.got("\(products.count) products")
        products.forEach { console.also(describe($0)) }
        return products
    }

    private func search() async throws {
        console.step("Search", asks: #"GET /products for "s & v" and for green teas, one at most"#)
        async let named = client.catalog.request(.search(Search(q: "s & v")), as: [Product].self, atKeyPath: "items")
        async let green = client.catalog.request(
            .search(Search(tags: ["green"], limit: 1)),
            as: [Product].self,
            atKeyPath: "items"
        )
        let (found, first) = try await (named, green)
        try check(found.map(\.id) == ["rooibos"], "the text should reach the server as it is, & and spaces included")
        try check(first.map(\.id) == ["sencha"], "the tag and the limit should reach the server")
        (found + first).forEach { console.got(describe($0)) }
    }

    private func order(_ products: [Product]) async throws {
        console.step("Order", asks: "POST /orders with JSON: two of the first, one of the last")
        let lines = zip(products.prefix(1) + products.suffix(1), [2, 1]).map { product, count in
            (product, NewOrder.Line(product: product.id, count: count))
        }
        let order = NewOrder(lines: lines.map(\.1), note: "Ring twice, “loud”")
        let placed = try await client.orders.request(.place(order), as: Order.self)
        let cents = lines.reduce(0) { $0 + $1.0.cents * $1.1.count }
        try check(placed.cents == cents, "the server should add up the same \(euros(cents))")
        console.got("order \(placed.number), \(euros(placed.cents)) in all")
    }

    private func upload() async throws {
        let picture = Picture.cup
        console.step(
            "Upload",
            asks: "POST /media/pictures as multipart: a caption and \(picture.png.count) bytes of PNG"
        )
        let stored = try await client.media.request(
            .upload(picture, caption: "Thé à la menthe"),
            as: StoredPicture.self
        )
        try check(stored.bytes == picture.png.count, "every byte should arrive")
        try check(stored.caption == "Thé à la menthe", "the caption should arrive as it is")
        let size = "\(stored.width)×\(stored.height)"
        console.got("\(stored.fileName), \(stored.contentType), \(size), \(stored.bytes) bytes, “\(stored.caption)”")
    }

    private func cancel() async throws {
        let whatEndsIt = isHeld ? "press Ctrl-C" : "cancelled after 0.3 s"
        console.step("Cancel", asks: "GET /orders/report, which takes half a minute: \(whatEndsIt)")
        let result = await withTaskGroup(of: Result<Response, TargetKitError>.self) { group in
            group.addTask { await outcome(of: .report) }
            if !isHeld {
                try? await Task.sleep(for: .milliseconds(300))
                group.cancelAll()
            }
            return await group.next()
        }
        try Task.checkCancellation()
        if isHeld { return console.got("it came, before anybody pressed Ctrl-C") }
        let error = try failure(of: result, "the report should have been cancelled")
        try check(error.stage == .cancelled, "the error should say that the call was cancelled, not: \(error)")
        console.got("an error of stage \(error.stage)")
    }

    /// The session ends on the server. The first call that notices takes all others down with it.
    private func meetUnauthorized() async throws {
        console.step("Meet a 401", asks: "a report runs; the server ends the session; then GET /orders")
        async let report = outcome(of: .report)
        try await Task.sleep(for: .milliseconds(300))
        _ = try await client.auth.request(.revoke)
        let orders = await outcome(of: .all)
        let reported = await report
        try Task.checkCancellation()
        let refused = try failure(of: orders, "a call without a session should fail")
        try check(refused.kind == .unauthorized, "the server should answer 401, not: \(refused)")
        let stopped = try failure(of: reported, "the report should have been cancelled")
        try check(stopped.kind == .cancelled, "the sign-out should have cancelled the report, not: \(stopped)")
        try checkSignedOut(times: 1)
        try check(client.scope.inFlightCount == 0, "no call should be left")
        console.got("the orders: \(refused.kind); the report: \(stopped.kind), by the sign-out")
        console.also("signed out once, no call is left")
    }

    /// Some servers say 200 and mean 401. The plugin reads the code from the body.
    private func meetUnauthorizedInBody() async throws {
        console.step("Meet a 401 in a 200", asks: "sign in again; the server ends the session; then GET /legacy/orders")
        try await beginSession()
        client.unauthorized.reset()
        _ = try await client.auth.request(.revoke)
        let legacy = try await client.orders.request(.legacy)
        try checkSignedOut(times: 2)
        console.got("HTTP \(legacy.statusCode) with the body \(String(decoding: legacy.data, as: UTF8.self))")
        console.also("signed out again, once")
    }

    private func finish() async {
        // Lets the last report run, which is on the main actor.
        await MainActor.run {}
        let count = client.activity.count
        console.line()
        console.line(
            "All went as told: \(count.began) calls began, \(count.ended) ended, at most \(count.mostAtOnce) at once."
        )
    }
}
