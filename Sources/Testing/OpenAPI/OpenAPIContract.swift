// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// An OpenAPI document, against which responses are checked.
///
/// ```swift
/// let contract = try OpenAPIContract(document: Data(contentsOf: url))
/// let response = try await provider.request(.product(id: 7))
/// try contract.check(response)
/// ```
///
/// OpenAPI 3.0 and 3.1 are read, as JSON. Convert a YAML document first.
///
/// - The status must be one of the operation's responses: itself, its range such as `4XX`, or `default`.
/// - The media type must be one of the response's, and the header fields that are required must be there.
/// - A JSON body must fit its schema: types, `enum`, `const`, limits, properties, elements, `allOf`, `anyOf`, `oneOf`,
///   `not`, `if`, discriminators, and references within the document, also recursive ones. The formats `date`,
///   `date-time`, `uuid`, `uri`, `email`, `ipv4`, `ipv6`, `byte`, `int32` and `int64` are checked; other ones aren't.
///   A property that is `writeOnly` need not be in a response. Redacted values fit every schema.
/// - The keywords `unevaluatedProperties`, `unevaluatedItems` and `$dynamicRef`, anchors, and other bodies than JSON
///   aren't checked. A reference to another document is a difference, so that nothing is skipped unnoticed.
public struct OpenAPIContract: Sendable {
    let document: OpenAPIDocument
    let operations: OpenAPIOperations

    /// Reads a document.
    ///
    /// - Throws: An error if the document isn't JSON, not OpenAPI 3.0 or 3.1, or has a path whose reference leads
    ///   nowhere.
    public init(document: Data) throws {
        self.document = try OpenAPIDocument(document)
        operations = try OpenAPIOperations(self.document)
    }

    /// Checks a response.
    ///
    /// - Parameters:
    ///   - response: The response, with its body in memory or in a file.
    ///   - operation: A method and a path of the document, such as `"GET /products/{id}"`, or an `operationId`; default
    ///     `nil`: the operation is that of the response's request.
    /// - Throws: One error with all differences, a line each, with the JSON pointers of the value and of the keyword
    ///   that it doesn't fit. Secret values are redacted in it.
    public func check(_ response: Response, for operation: String? = nil) throws {
        let operation = try operation.map { try operations.operation(named: $0) } ?? self.operation(of: response)
        var body = response.data
        if let file = response.file { body = try Data(contentsOf: file, options: .mappedIfSafe) }
        let check = OpenAPIResponseCheck(document: document, operation: operation)
        let found = try check.differences(status: response.statusCode, headers: response.headers, body: body)
        guard !found.isEmpty else { return }
        let count = Plural.of(found.count, noun: "difference")
        let rest = found.count > 50 ? ["\n  … and \(found.count - 50) more"] : []
        let lines = found.prefix(50).map { "\n  " + $0 } + rest
        throw ExpectationFailure(
            "\(operation.name), status \(response.statusCode): \(count) from the document:" + lines.joined()
        )
    }

    private func operation(of response: Response) throws -> OpenAPIOperation {
        guard let request = response.request, let url = request.url else {
            throw ExpectationFailure("the response has no request; name its operation, such as GET /products/{id}")
        }
        return try operations.operation(of: request.httpMethod ?? "GET", url: url)
    }
}
