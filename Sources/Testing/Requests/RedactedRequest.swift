// SPDX-License-Identifier: MIT
import TargetKit

/// A request without its secrets, for messages, files and comparisons. Secrets compare as equal.
package struct RedactedRequest: Sendable, Hashable {
    /// The method.
    package var method: String
    /// The URL, which may be invalid because it can contain the placeholder.
    package var url: String
    /// The header fields.
    package var headers: HTTPHeaders
    /// The body.
    package var body: Data

    /// Creates a request from redacted parts.
    package init(method: String, url: String, headers: HTTPHeaders, body: Data) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }

    /// Creates the redacted copy of a request, with its body decoded.
    package init(_ request: RecordedRequest, by redaction: Redaction = Redaction()) {
        self.init(
            method: request.method.rawValue,
            url: redaction.url(request.url.absoluteString),
            headers: redaction.headers(request.headers),
            body: redaction.body(request.decodedBody, contentType: request.headers[.contentType])
        )
    }

    /// The URL's escaped query; `nil` if there is none.
    package var query: String? {
        url.firstIndex(of: "?").map { String(url[url.index(after: $0)...]) }
    }

    /// The URL without its query.
    package var address: String { String(url.prefix { $0 != "?" }) }

    /// The decoded items of the URL, in order.
    package var queryItems: [FormItem] { FormItem.items(of: query ?? "") }
}

extension Redaction {
    /// The fields with secret values redacted.
    package func headers(_ headers: HTTPHeaders) -> HTTPHeaders {
        HTTPHeaders(
            headers.fields.map { field in
                .init(name: field.name, value: header(field.value, name: field.name.rawValue))
            }
        )
    }
}
