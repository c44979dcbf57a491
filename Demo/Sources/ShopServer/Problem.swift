// SPDX-License-Identifier: MIT
import FlyingFox
import Foundation

/// A response that is no success: a status and a sentence.
struct Problem: Error {
    let status: HTTPStatusCode
    let message: String

    init(_ status: HTTPStatusCode, _ message: String) {
        self.status = status
        self.message = message
    }

    var response: HTTPResponse {
        let body = (try? JSONEncoder().encode(["message": message])) ?? Data()
        return HTTPResponse(statusCode: status, headers: [.contentType: "application/json"], body: body)
    }
}

extension HTTPResponse {
    /// A response whose body is the value in JSON.
    static func json(_ value: some Encodable, status: HTTPStatusCode = .ok) throws -> HTTPResponse {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let body = try encoder.encode(value)
        return HTTPResponse(statusCode: status, headers: [.contentType: "application/json"], body: body)
    }
}
