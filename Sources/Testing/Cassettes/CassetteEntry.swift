// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// A recorded call: one document of a cassette.
public struct CassetteEntry: Sendable, Hashable {
    /// The name of the document without its extension, for example `001-GET-products`.
    public let name: String
    /// The method of the request.
    public let method: HTTPMethod
    /// The URL of the request, with secrets redacted.
    public let url: String
    /// The status of the response; `nil` for a failure without a response.
    public let statusCode: Int?
}

extension CassetteEntry: CustomStringConvertible {
    /// The name, the request and the status, on one line.
    public var description: String {
        "\(name): \(method.rawValue) \(url)".inOneLine + (statusCode.map { " → \($0)" } ?? " → failure")
    }
}

/// The result of a recorded call.
struct RecordedOutcome: Sendable, Hashable {
    /// The response; `nil` if there was none.
    var response: RecordedResponse?
    /// The code of the `URLError` with which the call or its body ended; `nil` if the body is complete.
    var failure: Int?

    var error: URLError? {
        guard let failure else { return nil }
        // On Linux, a code that Foundation does not know is `nil`.
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

    init(_ head: ResponseHead, _ body: Data, by redaction: Redaction) {
        let headers = head.headers
        self.init(
            status: head.statusCode,
            httpVersion: head.httpVersion,
            headers: redaction.headers(headers),
            body: redaction.body(body, contentType: headers[.contentType])
        )
    }
}
