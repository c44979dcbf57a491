// SPDX-License-Identifier: MIT
import FlyingFox
import Foundation

/// What the server does for each method and path.
struct ShopRoutes: Sendable {
    /// A method, a path, and its handler.
    struct Route: Sendable {
        let method: HTTPMethod
        let path: String
        let handler: @Sendable (HTTPRequest) async throws -> HTTPResponse

        func response(to request: HTTPRequest) async -> HTTPResponse {
            do {
                return try await handler(request)
            } catch let problem as Problem {
                return problem.response
            } catch is CancellationError {
                return Problem(.serviceUnavailable, "The server is ending").response
            } catch {
                return Problem(.badRequest, "The request could not be understood").response
            }
        }
    }

    /// One of the systems that the server runs, each below a path of its own.
    enum Environment: String, CaseIterable {
        case production = ""
        case staging = "/staging"
    }

    private let environment: Environment
    private let sessions = Sessions()
    private let stock: Stock
    private let busy = BusyCounter()

    init(_ environment: Environment) {
        self.environment = environment
        stock = Stock(environment)
    }

    /// The paths that are served; the first that fits answers.
    var routes: [Route] {
        let routes = [
            Route(method: .POST, path: "/session", handler: signIn),
            Route(method: .POST, path: "/session/refresh", handler: refresh),
            Route(method: .POST, path: "/session/expire", handler: expire),
            Route(method: .POST, path: "/session/revoke", handler: revoke),
            Route(method: .GET, path: "/products", handler: products),
            Route(method: .GET, path: "/products/:id", handler: product),
            Route(method: .GET, path: "/products/:id/stock", handler: availability),
            Route(method: .GET, path: "/orders/report", handler: report),
            Route(method: .GET, path: "/orders", handler: orders),
            Route(method: .POST, path: "/orders", handler: order),
            Route(method: .GET, path: "/legacy/orders", handler: legacyOrders),
            Route(method: .GET, path: "/member", handler: member),
            Route(method: .POST, path: "/vouchers", handler: redeem),
            Route(method: .POST, path: "/media/pictures", handler: picture),
            Route(method: .GET, path: "/media/film", handler: film),
            Route(method: .GET, path: "/feed", handler: feed),
        ]
        return routes.map { route in
            Route(method: route.method, path: environment.rawValue + route.path) { request in
                try admit(request)
                return try await route.handler(request)
            }
        }
    }

    /// The staging system is for testers only.
    private func admit(_ request: HTTPRequest) throws {
        guard environment == .staging, request.headers[HTTPHeader("X-Tester")] == nil else { return }
        throw Problem(.forbidden, "The staging system is for testers: send X-Tester")
    }

    private func signIn(_ request: HTTPRequest) async throws -> HTTPResponse {
        let credentials = try JSONDecoder().decode(Credentials.self, from: await request.bodyData)
        guard credentials.user == "ada", credentials.password == "tea" else {
            throw Problem(.forbidden, "Wrong user or password")
        }
        return try .json(await sessions.begin(), status: .created)
    }

    private func refresh(_ request: HTTPRequest) async throws -> HTTPResponse {
        let token = try JSONDecoder().decode(RefreshRequest.self, from: await request.bodyData).refreshToken
        guard let tokens = await sessions.refresh(token) else { throw Problem(.unauthorized, "Sign in first") }
        return try .json(tokens)
    }

    private func expire(_ request: HTTPRequest) async throws -> HTTPResponse {
        await sessions.expire(try await session(of: request))
        return HTTPResponse(statusCode: .noContent)
    }

    private func revoke(_ request: HTTPRequest) async throws -> HTTPResponse {
        await sessions.end(try await session(of: request))
        return HTTPResponse(statusCode: .noContent)
    }

    private func products(_ request: HTTPRequest) throws -> HTTPResponse {
        let tags = request.query.filter { $0.name == "tags[]" }.map(\.value)
        let found = stock.products(containing: request.query["q"] ?? "", tags: tags)
        let limit = request.query["limit"].flatMap { Int($0) } ?? found.count
        let list = ProductList(total: found.count, items: Array(found.prefix(max(0, limit))))
        var response = try HTTPResponse.json(list)
        response.headers[HTTPHeader("Cache-Control")] = "max-age=1"
        return response
    }

    private func product(_ request: HTTPRequest) throws -> HTTPResponse {
        let id = request.routeParameters["id"] ?? ""
        guard let product = stock.product(id) else { throw Problem(.notFound, "There is no product \(id)") }
        return try .json(product)
    }

    private func availability(_ request: HTTPRequest) async throws -> HTTPResponse {
        let id = request.routeParameters["id"] ?? ""
        guard let product = stock.product(id) else { throw Problem(.notFound, "There is no product \(id)") }
        guard await busy.admits() else { throw Problem(.serviceUnavailable, "The warehouse is busy") }
        return try .json(Availability(product: id, left: product.cents % 37))
    }

    private func member(_ request: HTTPRequest) async throws -> HTTPResponse {
        let orders = await sessions.orders(of: try await session(of: request))
        let points = orders.reduce(0) { $0 + $1.cents / 100 }
        return try .json(Envelope(code: 0, message: "ok", data: Member(name: "Ada", points: points)))
    }

    private func redeem(_ request: HTTPRequest) async throws -> HTTPResponse {
        _ = try await session(of: request)
        let voucher = try JSONDecoder().decode(Voucher.self, from: await request.bodyData)
        return try .json(voucher.refusal(acceptLanguage: request.headers[HTTPHeader("Accept-Language")] ?? ""))
    }

    private func film(_ request: HTTPRequest) -> HTTPResponse {
        let body = HTTPBodySequence(from: Film(), count: Film.size)
        return HTTPResponse(statusCode: .ok, headers: [.contentType: "video/mp4"], body: body)
    }

    private func feed(_ request: HTTPRequest) async throws -> HTTPResponse {
        let feed = Feed(stock: stock, interval: .milliseconds(400))
        return try await WebSocketHTTPHandler(handler: MessageFrameWSHandler(handler: feed)).handleRequest(request)
    }

    private func order(_ request: HTTPRequest) async throws -> HTTPResponse {
        let session = try await session(of: request)
        let wish = try JSONDecoder().decode(OrderWish.self, from: await request.bodyData)
        let total = try wish.lines.reduce(0) { total, line in
            guard let product = stock.product(line.product) else {
                throw Problem(.notFound, "There is no product \(line.product)")
            }
            return total + product.cents * line.count
        }
        let key = request.headers[HTTPHeader("Idempotency-Key")]
        return try .json(await sessions.add(wish, cents: total, key: key, to: session), status: .created)
    }

    private func orders(_ request: HTTPRequest) async throws -> HTTPResponse {
        try .json(await sessions.orders(of: try await session(of: request)))
    }

    /// Takes its time, as reports do.
    private func report(_ request: HTTPRequest) async throws -> HTTPResponse {
        let orders = await sessions.orders(of: try await session(of: request))
        try await Task.sleep(for: .seconds(30))
        return try .json(["orders": orders.count])
    }

    /// Answers as older servers do: the status line always says 200, the body knows better.
    private func legacyOrders(_ request: HTTPRequest) async throws -> HTTPResponse {
        do {
            let orders = await sessions.orders(of: try await session(of: request))
            return try .json(["status": 200, "orders": orders.count])
        } catch let problem as Problem {
            return try .json(["status": problem.status.code])
        }
    }

    private func picture(_ request: HTTPRequest) async throws -> HTTPResponse {
        _ = try await session(of: request)
        let form = try ReceivedForm(await request.bodyData, contentType: request.headers[.contentType] ?? "")
        guard let file = form.parts["picture"], let caption = form.parts["caption"] else {
            throw Problem(.unprocessableContent, "The form needs a picture and a caption")
        }
        return try .json(ReceivedPicture(file: file, caption: caption), status: .created)
    }

    private func session(of request: HTTPRequest) async throws -> String {
        let words = (request.headers[.authorization] ?? "").split(separator: " ")
        guard words.count == 2, words[0] == "Bearer", await sessions.isOpen(String(words[1])) else {
            throw Problem(.unauthorized, "Sign in first")
        }
        return String(words[1])
    }
}
