// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitJSON

/// What one side says of a call: what was declared, or what the server received and the client got back.
struct Account: Equatable {
    /// The status code, or `none`.
    var status: String
    /// Method and path, as the server understood them; `nil` when it does not say.
    var request: String?
    /// Everything else, by name.
    var facts: [String: JSONValue]

    /// An account without the facts that say nothing.
    init(status: String, request: String? = nil, facts: [String: JSONValue] = [:]) {
        self.status = status
        self.request = request
        self.facts = facts.filter { !$0.value.saysNothing }
    }

    /// The account in lines for a person.
    var lines: [String] {
        let facts = facts.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.line)" }
        let lines = (request.map { [$0] } ?? []) + facts
        return lines.isEmpty ? ["no body"] : lines
    }

    /// What a call brought.
    init(_ result: Result<Response, TargetKitError>) {
        switch result {
        case .success(let response): self.init(response)
        case .failure(let error):
            self.init(
                status: error.response.map { "\($0.statusCode)" } ?? "none",
                facts: ["error": .string("\(error.kind)")]
            )
        }
    }

    private init(_ response: Response) {
        let status = "\(response.statusCode)"
        guard !response.data.isEmpty else {
            self.init(status: status)
            return
        }
        guard let json = try? response.json(), let body = json.dictionary else {
            self.init(status: status, facts: ["unreadable": .string("\(response.data.count) bytes")])
            return
        }
        guard let url = json["url"].string, let method = json["method"].string else {
            self.init(status: status, facts: body.filter { !["headers", "origin"].contains($0.key) })
            return
        }
        var facts = body.filter { ["args", "form", "files", "json", "data"].contains($0.key) }
        if let headers = json["headers"].dictionary {
            facts.merge(headers.filter { Self.isTelling($0.key, $0.value) }) { $1 }
        }
        self.init(status: status, request: "\(method) \(Self.path(of: url))", facts: facts)
    }

    /// Whether a header field is one that a caller declares, and not one that every client adds by itself.
    private static func isTelling(_ name: String, _ value: JSONValue) -> Bool {
        switch name {
        case "Host", "Content-Length", "Accept-Encoding", "Connection": false
        case "Accept": value != "*/*"
        case "User-Agent": value == "shop/1.0"
        default: true
        }
    }

    /// The path of a URL as httpbin writes it: percent signs of its own it leaves as they are, so only whole escapes
    /// count.
    private static func path(of url: String) -> String {
        let path =
            url.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false).last?.drop { $0 != "/" } ?? ""
        var bytes: [UInt8] = []
        var rest = Array(path.prefix { $0 != "?" }.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"),
                let escaped = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(escaped)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
