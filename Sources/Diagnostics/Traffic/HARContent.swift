// SPDX-License-Identifier: MIT
import TargetKit

/// The request of an entry, and the redaction of its secrets.
struct HARContent: Sendable {
    let request: URLRequest?
    let body: TransportRequest.Body
    let redaction: Redaction
    /// The maximum number of recorded bytes of each body.
    let bodyLimit: Int

    /// The URL without secrets; empty if there is none.
    var url: String { (request?.url).map { redaction.url($0.absoluteString) } ?? "" }

    /// A content type without secrets, or a default.
    func mediaType(_ contentType: String?, default type: String) -> String {
        contentType.map { redaction.header($0, name: "Content-Type") } ?? type
    }

    /// The fields without secrets.
    func fields(_ headers: HTTPHeaders) -> [HARField] {
        headers.map { field in
            HARField(
                name: field.name.rawValue,
                value: redaction.header(FieldOctets.latin1(field.value), name: field.name.rawValue)
            )
        }
    }
}

/// The response of an entry.
struct HARResponse: Sendable {
    let statusCode: Int
    let headers: HTTPHeaders
    let httpVersion: String
    var data: Data?
    /// The reason why the body is missing.
    var comment: String?
    /// The number of decoded bytes; `nil` if unknown.
    var size: Int64?
    let metrics: TransportMetrics?
    var origin: Response.Origin
    /// Whether the body was transferred for this entry.
    let isTransferred: Bool

    init(_ response: TransportResponse) {
        statusCode = response.head.statusCode
        headers = response.head.headers
        httpVersion = response.head.httpVersion
        metrics = response.metrics
        origin = response.origin
        isTransferred = true
        switch response.body {
        case .data(let data):
            self.data = data
            size = Int64(data.count)
        case .file(let file):
            comment = "The body is in a file."
            size = FileStatus(of: file)?.size
        case .stream: comment = "The body is a stream."
        case .upgraded: comment = "The connection was upgraded."
        }
    }

    init(_ response: Response, isTransferred: Bool) {
        statusCode = response.statusCode
        headers = response.headers
        httpVersion = response.httpVersion
        metrics = isTransferred ? response.metrics : nil
        origin = response.origin
        self.isTransferred = isTransferred
        if response.isStream {
            comment = "The body is a stream."
        } else if let file = response.file {
            comment = "The body is in a file."
            size = FileStatus(of: file)?.size
        } else {
            data = response.data
            size = Int64(response.data.count)
        }
    }
}

/// A header field, or an item of a query (HAR 1.2, `headers` and `queryString`).
struct HARField: Encodable, Equatable {
    let name: String
    let value: String
}

/// A request (HAR 1.2, `request`).
struct HARRequestPart: Encodable {
    private struct PostData: Encodable {
        let mimeType: String
        let text: String
        let comment: String?
    }

    private let method: String
    private let url: String
    private let httpVersion: String
    // The values of cookies are secrets, and the header fields contain the names.
    private let cookies: [HARField] = []
    private let headers: [HARField]
    private let queryString: [HARField]
    private let postData: PostData?
    private let headersSize = -1
    private let bodySize: Int64

    init(_ content: HARContent, httpVersion: String?) {
        let fields = (content.request?.allHTTPHeaderFields ?? [:]).sorted { $0.key < $1.key }.map { name, value in
            HTTPHeaders.Field(name: HTTPHeaderName(rawValue: name), value: value)
        }
        self.httpVersion = httpVersion ?? ""
        method = content.request?.httpMethod ?? "GET"
        url = content.url
        headers = content.fields(HTTPHeaders(fields))
        queryString = Self.items(of: content.url)
        let type = content.request?.value(forHTTPHeaderField: "Content-Type")
        let mediaType = content.mediaType(type, default: "")
        func described(_ comment: String) -> PostData { PostData(mimeType: mediaType, text: "", comment: comment) }
        switch content.body {
        case .none:
            postData = nil
            bodySize = 0
        case .data(let data):
            let decoded = ReadableBody.decoded(data, headers: HTTPHeaders(fields))
            let body = HARBody(decoded, contentType: type, of: content, isRequest: true)
            postData = data.isEmpty ? nil : PostData(mimeType: mediaType, text: body.text ?? "", comment: body.comment)
            bodySize = Int64(data.count)
        case .file(let file):
            postData = described("The body is read from a file.")
            bodySize = FileStatus(of: file)?.size ?? -1
        case .stream:
            postData = described("The body is read from a stream.")
            bodySize = -1
        }
    }

    private static func items(of url: String) -> [HARField] {
        guard let mark = url.firstIndex(of: "?") else { return [] }
        return url[url.index(after: mark)...].split(separator: "&").map { item in
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(decoded)
            return HARField(name: parts.first ?? "", value: parts.count > 1 ? parts[1] : "")
        }
    }

    private static func decoded(_ text: Substring) -> String {
        let text = text.replacingOccurrences(of: "+", with: " ")
        return text.removingPercentEncoding ?? text
    }
}

/// A response (HAR 1.2, `response`). Without one, the status is 0.
struct HARResponsePart: Encodable {
    private struct Content: Encodable {
        var size: Int64
        var compression: Int64?
        let mimeType: String
        var text: String?
        var encoding: String?
        var comment: String?
    }

    private let status: Int
    private let statusText = ""
    private let httpVersion: String
    private let cookies: [HARField] = []
    private let headers: [HARField]
    private let content: Content
    private let redirectURL: String
    private let headersSize = -1
    private let bodySize: Int64
    // Chrome shows it as the size.
    private let transferSize: Int64

    private enum CodingKeys: String, CodingKey {
        case status, statusText, httpVersion, cookies, headers, content, redirectURL, headersSize, bodySize
        case transferSize = "_transferSize"
    }

    init(_ response: HARResponse?, _ request: HARContent) {
        status = response?.statusCode ?? 0
        httpVersion = response?.httpVersion ?? ""
        headers = response.map { request.fields($0.headers) } ?? []
        redirectURL = response?.headers[.location].map { request.redaction.url($0) } ?? ""
        let type = response?.headers[.contentType]
        var content = Content(
            size: response?.size ?? (response == nil ? 0 : -1),
            mimeType: request.mediaType(type, default: "x-unknown")
        )
        content.comment = response?.comment
        if let data = response?.data {
            let body = HARBody(data, contentType: type, of: request, isRequest: false)
            (content.text, content.encoding) = (body.text, body.encoding)
            content.comment = body.comment
        }
        if let wire = response?.metrics?.bytesReceived, let size = response?.size, size > 0 {
            content.compression = size - wire
        }
        self.content = content
        bodySize = response.map { $0.isTransferred ? $0.metrics?.bytesReceived ?? $0.size ?? -1 : 0 } ?? -1
        transferSize = bodySize
    }
}
