// SPDX-License-Identifier: MIT
import TargetKit

extension HTTPBin {
    /// What the server should say it has received, written by hand: nothing here is computed by TargetKit.
    var declared: Account {
        switch self {
        case .segments: .echo("GET /anything/\(Samples.oddSegment)/7/a/b")
        case .parameters:
            .echo(
                "GET /anything/list",
                args: [
                    "text": "a b&c=d+e/ü€", "empty": "", "int": "-7", "double": "0.5", "bool": "1",
                    "list[]": ["x", "y z"], "nested[key]": "value",
                ]
            )
        case .ordered: .echo("GET /anything/list", args: ["fixed": "yes", "b": ["2", "again"], "a": "1"])
        case .encodable:
            .echo("GET /anything/search", args: ["q": "s & v", "tags[]": ["green", "japan"], "limit": "2"])
        case .headers:
            .echo(
                "GET /anything/headers",
                headers: ["X-Trace": "7f; a=\"b\", c", "Accept-Language": "de, en;q=0.5", "User-Agent": "shop/1.0"]
            )
        case .json: .echo("POST /anything/orders", body: Self.orderBody)
        case .jsonAndQuery: .echo("PUT /anything/orders/7", args: ["dry-run": "1"], body: Self.orderBody)
        case .form: .echo("POST /anything/form", body: Self.formBody)
        case .bytes: .echo("PUT /anything/bytes", body: Self.bytesBody)
        case .change: .echo("PATCH /anything/note", body: Self.noteBody)
        case .remove: .echo("DELETE /anything/orders/7", args: ["reason": "late"])
        case .trace: .echo("TRACE /anything/trace")
        case .multipart: .echo("POST /anything/upload", body: Self.multipartBody)
        case .head, .options: Account(status: "200")
        case .noContent: Account(status: "204")
        case .notFound: Account(status: "404", facts: ["error": "notFound"])
        case .unavailable: Account(status: "503", facts: ["error": "server"])
        case .redirect: .echo("GET /anything/landed")
        case .gzip: Account(status: "200", facts: ["gzipped": true, "method": "GET"])
        case .basic: Account(status: "200", facts: ["authenticated": true, "user": "ada"])
        case .bearer: Account(status: "200", facts: ["authenticated": true, "token": "lovelace"])
        case .slow: Account(status: "none", facts: ["error": "timedOut"])
        case .cancelled: Account(status: "none", facts: ["error": "cancelled"])
        }
    }

    private static let orderBody: [String: JSONValue] = [
        "Content-Type": "application/json",
        "json": ["lines": [["product": "sencha", "count": 2]], "note": "“Ring” twice\nplease"],
        "data": #"{"lines":[{"count":2,"product":"sencha"}],"note":"“Ring” twice\nplease"}"#,
    ]

    private static let formBody: [String: JSONValue] = [
        "Content-Type": "application/x-www-form-urlencoded; charset=utf-8",
        "form": ["name": "Ada & Co", "tags[]": ["a", "b"]],
    ]

    private static let bytesBody: [String: JSONValue] = [
        "Content-Type": "application/octet-stream",
        "data": "data:application/octet-stream;base64,AP8NCoA=",
    ]

    private static let noteBody: [String: JSONValue] = [
        "Content-Type": "text/plain; charset=utf-8",
        "data": "Grüße",
    ]

    private static let multipartBody: [String: JSONValue] = [
        "Content-Type": "multipart/form-data; boundary=shop-boundary",
        "form": ["caption": "Thé à la menthe"],
        "files": ["notes": "Two lines,\r\none of them German: Grüße\n"],
    ]
}

extension Account {
    /// What `/anything` says of a request: everything that is not named is declared not to be there.
    fileprivate static func echo(
        _ request: String,
        args: JSONValue = [:],
        headers: [String: JSONValue] = [:],
        body: [String: JSONValue] = [:]
    ) -> Account {
        Account(status: "200", request: request, facts: ["args": args].merging(headers) { $1 }.merging(body) { $1 })
    }
}
