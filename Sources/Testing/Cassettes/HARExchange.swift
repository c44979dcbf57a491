// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitJSON

/// An entry of an HTTP Archive: its redacted request, and its response, whose body is decoded when it is replayed.
struct HARExchange: Sendable {
    /// The error of an entry: a field, what is wrong with it, and a remedy.
    struct Problem: Error {
        let text: String

        init(_ text: String) {
            self.text = text
        }
    }

    let request: RedactedRequest
    /// Whether the archive contains the request's body. An unknown body isn't compared.
    let isRequestBodyKnown: Bool
    /// The response without its body; `nil` if there was none.
    private let head: RecordedResponse?
    private let content: HARContent
    /// Why the entry can't be replayed, although its method and URL are known.
    private let problem: Problem?

    /// - Parameter isOwn: Whether a `HARFile` wrote the archive.
    /// - Throws: A ``Problem`` if the entry has no method or URL.
    init(_ entry: JSONValue, isOwn: Bool, redaction: Redaction) throws(Problem) {
        let method = try Self.string("request.method", in: entry)
        let url = Self.comparable(try Self.string("request.url", in: entry))
        let response = entry["response"]
        content = HARContent(response["content"], of: response, isOwn: isOwn, isEmpty: method == "HEAD")
        var (headers, body) = (HTTPHeaders(), nil as Data?)
        var (head, problem) = (nil as RecordedResponse?, nil as Problem?)
        do {
            headers = try Self.headers("request.headers", in: entry)
            body = try Self.requestBody(in: entry)
            head = try Self.head(in: entry, content)
        } catch {
            problem = error
        }
        (self.head, self.problem) = (head, problem)
        isRequestBodyKnown = body != nil
        let type = headers[.contentType] ?? entry[path: "request.postData.mimeType"].string
        request = RedactedRequest(
            method: method,
            url: redaction.url(url).withoutRedactedUser,
            headers: redaction.headers(headers),
            body: redaction.body(body ?? Data(), contentType: type)
        )
    }

    /// Whether there is a result to replay, or a reason why it can't be read.
    var isReplayable: Bool { head != nil || problem != nil }

    /// The entry as a document of a cassette, without the bodies.
    var document: CassetteDocument {
        var document = CassetteDocument(method: request.method, url: request.url, requestHeaders: request.headers)
        document.response = head
        return document
    }

    /// The response with its decoded body; `nil` if there was none.
    ///
    /// - Throws: A ``Problem`` if the entry can't be read, or the archive doesn't contain the body.
    func response() throws(Problem) -> RecordedResponse? {
        if let problem { throw problem }
        guard var response = head else { return nil }
        response.body = try content.body(status: response.status, headers: response.headers)
        content.adapt(&response.headers, to: response.body)
        return response
    }
}

// MARK: - Reading

extension HARExchange {
    private static func string(_ path: String, in entry: JSONValue) throws(Problem) -> String {
        guard let text = entry[path: path].string, !text.isEmpty else {
            throw Problem("\(path) isn't a string; correct it, or delete the entry")
        }
        return text
    }

    /// The response without its body; `nil` if there was none.
    private static func head(in entry: JSONValue, _ content: HARContent) throws(Problem) -> RecordedResponse? {
        let response = entry["response"]
        guard response != .null else { return nil }
        guard let status = response["status"].int, (-1...999).contains(status) else {
            throw Problem("response.status isn't a status code; correct it, or delete the entry")
        }
        // Browsers and proxies write 0 or -1 for a request that was blocked, cancelled, or failed.
        guard status >= 200 else { return nil }
        var fields = try headers("response.headers", in: entry)
        if (300..<400).contains(status), fields[.location] == nil, let target = response["redirectURL"].string {
            fields[.location] = target.isEmpty ? nil : target
        }
        return RecordedResponse(
            // A browser's cache answered the page, whose request had no condition.
            status: status == 304 && content.hasText ? 200 : status,
            httpVersion: version(response["httpVersion"].string ?? ""),
            headers: fields,
            body: Data()
        )
    }

    /// The fields without HTTP/2's pseudo-header fields, which browsers and proxies also list.
    private static func headers(_ path: String, in entry: JSONValue) throws(Problem) -> HTTPHeaders {
        var headers = HTTPHeaders()
        let fields = entry[path: path]
        guard fields != .null else { return headers }
        guard let fields = fields.array else {
            throw Problem("\(path) isn't an array of name and value; correct it, or delete the entry")
        }
        for (index, field) in fields.enumerated() {
            guard let name = field["name"].string, let value = field["value"].string else {
                throw Problem("\(path).\(index) has no name and value; correct it, or delete the entry")
            }
            guard !name.hasPrefix(":"), !name.isEmpty else { continue }
            // Chrome joins several cookies with line breaks.
            for line in value.isEmpty ? [""] : value.split(whereSeparator: \.isNewline) {
                headers.add(HTTPHeaderName(rawValue: name), value: line.trimmingCharacters(in: .whitespaces))
            }
        }
        return headers
    }

    /// The body of a request; `nil` if the archive doesn't contain it.
    private static func requestBody(in entry: JSONValue) throws(Problem) -> Data? {
        let post = entry[path: "request.postData"]
        if let text = post["text"].string, !text.isEmpty {
            let encoding = post["encoding"].string ?? post["_encoding"].string ?? ""
            guard !encoding.isEmpty else { return post["comment"] == .null ? Data(text.utf8) : nil }
            return try HARContent.decoded(text, encoding: encoding, field: "request.postData")
        }
        let isForm = post["mimeType"].string?.mediaType == "application/x-www-form-urlencoded"
        if isForm, let items = post["params"].array, !items.isEmpty {
            let pairs = items.map { "\(formText($0["name"].string))=\(formText($0["value"].string))" }
            return Data(pairs.joined(separator: "&").utf8)
        }
        let isEmpty = (entry[path: "request.bodySize"].int ?? 0) <= 0 && post["comment"] == .null
        return isEmpty && (post["params"].array ?? []).isEmpty ? Data() : nil
    }

    /// A name or value of a form. Some tools decode them, and others don't.
    private static func formText(_ text: String?) -> String {
        let text = text?.removingPercentEncoding ?? text ?? ""
        let unreserved = CharacterSet(charactersIn: "-._~").union(.alphanumerics.intersection(ascii))
        return text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? text
    }

    private static let ascii = CharacterSet(charactersIn: Unicode.Scalar(0)...Unicode.Scalar(0x7F))

    /// The version as the transports write it. Tools write `h2`, `http/2.0` or `unknown`.
    private static func version(_ text: String) -> String {
        switch text.lowercased().drop(while: { !$0.isNumber }) {
        case "3", "3.0": "HTTP/3"
        case "2", "2.0": "HTTP/2"
        case "1.0": "HTTP/1.0"
        default: "HTTP/1.1"
        }
    }

    /// The URL without a fragment and a default port, and with a path. The scheme and host are in lowercase.
    static func comparable(_ url: String) -> String {
        let text = url.prefix { $0 != "#" }
        guard let scheme = text.range(of: "://") else { return String(text) }
        let name = text[..<scheme.lowerBound].lowercased()
        let rest = text[scheme.upperBound...]
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        var authority = String(rest[..<end])
        let host = (authority.lastIndex(of: "@").map { authority.index(after: $0) }) ?? authority.startIndex
        authority = authority[..<host] + authority[host...].lowercased()
        for (scheme, port) in [("https", ":443"), ("http", ":80")] where name == scheme && authority.hasSuffix(port) {
            authority.removeLast(port.count)
        }
        return "\(name)://\(authority)" + (rest[end...].hasPrefix("/") ? "" : "/") + rest[end...]
    }
}
