// SPDX-License-Identifier: MIT
import Foundation
import HTTPTypes
import HTTPTypesFoundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension HTTPFields {
    /// The fields in their order. Those whose names aren't tokens, which no request can have, are left out.
    public init(_ headers: HTTPHeaders) {
        self.init()
        for field in headers {
            guard let name = HTTPField.Name(field.name.rawValue) else { continue }
            append(HTTPField(name: name, value: field.value))
        }
    }
}

extension HTTPHeaders {
    /// The fields in their order.
    public init(_ fields: HTTPFields) {
        self.init(fields.map { Field(name: HTTPHeaderName(rawValue: $0.name.rawName), value: $0.value) })
    }
}

extension HTTPRequest {
    /// The head of a request, as a transport gets it.
    ///
    /// - Throws: `URLError` of `.unsupportedURL` if the request has no URL of HTTP.
    public init(_ request: TransportRequest) throws {
        guard let head = request.urlRequest.httpRequest else { throw URLError(.unsupportedURL) }
        self = head
    }
}

extension ResponseHead {
    /// The head of a response. HTTPTypes doesn't tell the version of HTTP.
    public init(_ response: HTTPResponse, httpVersion: String = "HTTP/1.1") {
        self.init(
            statusCode: response.status.code,
            headers: HTTPHeaders(response.headerFields),
            httpVersion: httpVersion
        )
    }
}

extension HTTPResponse {
    /// The head of a response.
    public init(_ head: ResponseHead) {
        self.init(status: Status(code: head.statusCode), headerFields: HTTPFields(head.headers))
    }
}
