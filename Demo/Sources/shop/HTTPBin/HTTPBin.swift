// SPDX-License-Identifier: MIT
import Foundation
import ShopAPI
import TargetKit
import TargetKitPlugins

/// Calls of httpbin, a server that returns what it has received: one case for each kind of request and response.
enum HTTPBin: String, CaseIterable {
    case segments, parameters, ordered, encodable, headers, json, jsonAndQuery, form, bytes, change, remove, head,
        options, trace
    case multipart, noContent, notFound, unavailable, redirect, gzip, basic, bearer, slow, cancelled
}

extension HTTPBin: RoutedTarget {
    /// The command sends the calls to the server that it was given.
    var baseURL: URL { ShopServers.production }

    var route: Route {
        switch self {
        case .segments: .get("/anything/\(Samples.oddSegment)/\(7)/\(raw: "a/b")")
        case .parameters: .get("/anything/list", .parameters(Samples.parameters))
        case .ordered: .get("/anything/list?fixed=yes", .query(ordered: ["b": 2, "a": 1, "b": "again"]))
        case .encodable: .get("/anything/search", .query(Samples.search))
        case .headers: .get("/anything/headers")
        case .json: .post("/anything/orders", .json(Samples.order))
        case .jsonAndQuery: .put("/anything/orders/7", .json(Samples.order).query(["dry-run": true]))
        case .form: .post("/anything/form", .form(["name": "Ada & Co", "tags": ["a", "b"]]))
        case .bytes: .put("/anything/bytes", .data(Samples.bytes, contentType: "application/octet-stream"))
        case .change: .patch("/anything/note", .data(Data("Grüße".utf8), contentType: "text/plain; charset=utf-8"))
        case .remove: .delete("/anything/orders/7", .parameters(["reason": "late"]))
        case .head: .head("/anything")
        case .options: .options("/anything")
        case .trace: Route(.trace, "/anything/trace")
        case .multipart: .post("/anything/upload", .multipart(Samples.form))
        case .noContent: .delete("/status/\(204)")
        case .notFound: .get("/status/\(404)")
        case .unavailable: .get("/status/\(503)")
        case .redirect: .get("/redirect-to", .query(["url": "/anything/landed"]))
        case .gzip: .get("/gzip")
        case .basic: .get("/basic-auth/ada/love:lace")
        case .bearer: .get("/bearer")
        case .slow, .cancelled: .get("/delay/\(5)")
        }
    }

    var headers: HTTPHeaders {
        switch self {
        case .headers: ["X-Trace": "7f; a=\"b\", c", "Accept-Language": "de, en;q=0.5", "User-Agent": "shop/1.0"]
        default: [:]
        }
    }

    var options: CallOptions {
        let timeout = CallTimeout.exchange(self == .slow ? .milliseconds(300) : .seconds(10))
        return .setting(\.timeout, timeout).setting(\.authorization, authorization)
    }

    private var authorization: AuthorizationScheme {
        switch self {
        case .basic: .basic
        case .bearer: .bearer
        default: .none
        }
    }
}
