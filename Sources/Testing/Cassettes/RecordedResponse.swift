// SPDX-License-Identifier: MIT
import TargetKit

/// The result of a recorded call.
struct RecordedOutcome: Sendable, Hashable {
    /// The response; `nil` if there was none.
    var response: RecordedResponse?
    /// The code of the `URLError` with which the call or its body ended; `nil` if the body is complete.
    var failure: Int?

    var error: URLError? {
        guard let failure else { return nil }
        // On Linux, the code is `nil` if Foundation doesn't know it.
        let code: URLError.Code? = URLError.Code(rawValue: failure)
        return URLError(code ?? .unknown)
    }
}

/// A recorded response, with secrets redacted.
struct RecordedResponse: Sendable, Hashable {
    var status: Int
    var httpVersion: String
    var headers: HTTPHeaders
    var body: Data

    init(status: Int, httpVersion: String, headers: HTTPHeaders, body: Data) {
        self.status = status
        self.httpVersion = httpVersion
        self.headers = headers
        self.body = body
    }

    /// Creates the redacted copy of a response.
    ///
    /// - Parameter isComplete: Whether the body was received to its end.
    init(_ head: ResponseHead, body: Data, isComplete: Bool, by redaction: Redaction) {
        self.init(status: head.statusCode, httpVersion: head.httpVersion, headers: head.headers, body: body)
        redact(by: redaction, isComplete: isComplete)
    }

    /// Redacts the secrets of the fields and the body.
    mutating func redact(by redaction: Redaction, isComplete: Bool = true) {
        let redacted = redaction.body(body, contentType: headers[.contentType])
        headers = redaction.replayable(headers)
        // The length describes the replayed body. The length of an incomplete body is unknown.
        if redacted != body, headers[.contentLength] != nil {
            headers[.contentLength] = isComplete ? "\(redacted.count)" : nil
        }
        body = redacted
    }
}

// MARK: - Header fields

extension Redaction {
    /// The fields of a response with secret values redacted so that a client can still read them: a cookie keeps its
    /// name and attributes, and a URL loses its user.
    fileprivate func replayable(_ headers: HTTPHeaders) -> HTTPHeaders {
        HTTPHeaders(
            headers.fields.map { field in
                var value = header(field.value, name: field.name.rawValue)
                if field.name == .setCookie, value != field.value { value = Self.cookie(field.value) }
                if HeaderRedaction.hasURL(field.name) { value = value.withoutRedactedUser }
                return .init(name: field.name, value: value)
            }
        )
    }

    /// The cookie attributes whose values aren't secret (RFC 6265 §4.1).
    private static let cookieAttributes: Set<String> = [
        "domain", "expires", "httponly", "max-age", "partitioned", "path", "priority", "samesite", "secure",
    ]

    /// A `Set-Cookie` field without the values of the cookie and of unknown attributes.
    private static func cookie(_ field: String) -> String {
        let pieces = field.split(separator: ";", omittingEmptySubsequences: false)
        return pieces.enumerated().map { index, piece in
            let end = piece.firstIndex(of: "=") ?? piece.endIndex
            let value = piece[end...].dropFirst()
            let name = piece[..<end].trimmingCharacters(in: .whitespaces)
            // A second `=` belongs to another cookie after a comma.
            let isPublic = index > 0 && cookieAttributes.contains(name.lowercased()) && !value.contains("=")
            if isPublic || piece.allSatisfy(\.isWhitespace) || (end != piece.endIndex && value.isEmpty) {
                return String(piece)
            }
            let shown = end == piece.endIndex ? (index > 0 ? " " : "") : piece[...end]
            return shown + SecretFields.placeholder
        }.joined(separator: ";")
    }
}

extension String {
    /// A redacted URL without the placeholder of its user, which isn't valid in a URL.
    var withoutRedactedUser: String {
        replacingOccurrences(of: "//\(SecretFields.placeholder)@", with: "//")
    }
}

extension RedactedRequest {
    /// Creates the redacted copy of a request for a cassette. Its URL has no user, like the URL of a recorded redirect.
    package init(recording request: RecordedRequest, by redaction: Redaction) {
        self.init(request, by: redaction)
        url = url.withoutRedactedUser
    }
}
