// SPDX-License-Identifier: MIT
import Foundation
import ShopAPI
import TargetKit
import TargetKitPlugins

// MARK: - What needs a session

extension Tour {
    func order() async throws {
        console.step(
            Phrase("Order", "下单"),
            asks: Phrase("POST /orders with JSON: two Earl Greys, one cup", "POST /orders，JSON：两包伯爵茶，一个杯子")
        )
        let lines = [NewOrder.Line(product: "earl-grey", count: 2), NewOrder.Line(product: "cup", count: 1)]
        let order = NewOrder(lines: lines, note: "Ring twice, “loud”")
        // With a key, the order can be sent again after a lost connection, and counts once.
        let options = CallOptions.setting(\.idempotencyKey, UUID().uuidString)
        let placed = try await client.orders.request(.place(order), as: Order.self, options: options)
        try check(placed.cents == 2 * 650 + 1150, "the server should add up the same amount")
        console.got(
            Phrase(
                "order \(placed.number), \(euros(placed.cents)) in all",
                "订单 \(placed.number)，共 \(euros(placed.cents))"
            )
        )
    }

    /// Two calls meet an expired token, which is refreshed once; both are sent again.
    func refresh() async throws {
        console.step(
            Phrase("Refresh", "刷新令牌"),
            asks: Phrase("the access token expires; then GET /orders, twice at once", "访问令牌过期；然后同时 GET /orders 两次")
        )
        let before = client.session.refreshes
        _ = try await client.account.request(.expire)
        async let first = client.orders.request(.all, as: [Order].self)
        async let second = client.orders.request(.all, as: [Order].self)
        let orders = try await (first, second)
        let refreshes = client.session.refreshes - before
        let number = orders.0.first?.number ?? 0
        try check(orders.0.map(\.number) == orders.1.map(\.number), "both calls should return the same orders")
        try check(refreshes == 1, "the token should be refreshed once, not \(refreshes) times")
        console.got(
            Phrase(
                "order \(number), twice; the token was refreshed once",
                "两次都得到订单 \(number)；令牌只刷新一次"
            )
        )
    }

    /// The members' part of the server wraps its values, and reports failures with status 200.
    func member() async throws {
        console.step(
            Phrase("Open an envelope", "业务信封"),
            asks: Phrase(
                #"GET /member, POST /vouchers: {"code", "message", "data"}"#,
                #"GET /member、POST /vouchers：{"code", "message", "data"}"#
            )
        )
        let member = try await client.account.request(.member, as: Member.self)
        console.got(Phrase("\(member.name) with \(member.points) points", "\(member.name)，\(member.points) 积分"))
        do {
            _ = try await client.account.request(.redeem(voucher: "TEA-2019"))
            throw TourFailure(description: "the voucher should be refused")
        } catch let error as TargetKitError where error.stage == .envelope {
            console.failed(error)
        }
    }

    func cancel() async throws {
        console.step(
            Phrase("Cancel", "取消"),
            asks: Phrase(
                "GET /orders/report, which takes half a minute: " + (isHeld ? "press Ctrl-C" : "cancelled after 0.3 s"),
                "GET /orders/report，需要半分钟：" + (isHeld ? "请按 Ctrl-C" : "0.3 秒后取消")
            )
        )
        let result = await withTaskGroup(of: Result<Response, TargetKitError>.self) { group in
            group.addTask { await outcome(of: .report) }
            if !isHeld {
                try? await Task.sleep(for: .milliseconds(300))
                group.cancelAll()
            }
            return await group.next()
        }
        if isHeld { return try report(held: result) }
        let error = try failure(of: result, "the report should have been cancelled")
        try check(error.stage == .cancelled || continuesAfterErrors, "the call should be cancelled, not: \(error)")
        console.got(Phrase("an error of stage \(error.stage)", "阶段为 \(error.stage) 的错误"))
    }

    private func report(held result: Result<Response, TargetKitError>?) throws {
        if case .failure(let error)? = result { throw error }
        console.got(Phrase("the report, before anybody pressed Ctrl-C", "报告，在按 Ctrl-C 之前到达"))
    }

    /// The session ends on the server. The first call that notices cancels all others.
    func meetUnauthorized() async throws {
        console.step(
            Phrase("Meet a 401", "遇到 401"),
            asks: Phrase(
                "a report runs; the server ends the session; then GET /orders",
                "报告运行中，服务器结束会话；然后 GET /orders"
            )
        )
        async let report = outcome(of: .report)
        try await Task.sleep(for: .milliseconds(300))
        _ = try await client.account.request(.revoke)
        let refused = try failure(of: await outcome(of: .all), "a call without a session should fail")
        let stopped = try failure(of: await report, "the report should have been cancelled")
        try check(refused.kind == .unauthorized || continuesAfterErrors, "the error should be 401, not: \(refused)")
        try check(stopped.kind == .cancelled || continuesAfterErrors, "the report should be cancelled, not: \(stopped)")
        try checkSignedOut()
        console.got(
            Phrase(
                "the orders: \(refused.kind); the report: \(stopped.kind), by the sign-out",
                "订单：\(refused.kind)；报告：\(stopped.kind)（因退出登录）"
            )
        )
        console.failed(refused)
    }

    /// Some servers say 200 and mean 401. The authenticator reads the code from the body.
    func meetUnauthorizedInBody() async throws {
        console.step(
            Phrase("Meet a 401 in a 200", "200 里的 401"),
            asks: Phrase(
                "sign in again; the server ends the session; then GET /legacy/orders",
                "重新登录；服务器结束会话；然后 GET /legacy/orders"
            )
        )
        try await beginSession()
        _ = try await client.account.request(.revoke)
        let legacy = try failure(of: await outcome(of: .legacy), "a call without a session should fail")
        try checkSignedOut()
        let body = legacy.response.map { String(decoding: $0.data, as: UTF8.self) } ?? ""
        console.got(
            Phrase(
                "\(legacy.kind), with the body \(body); signed out again",
                "\(legacy.kind)，响应体 \(body)；再次退出登录"
            )
        )
    }
}
