// SPDX-License-Identifier: MIT
import TargetKitTesting

/// An OpenAPI document that responses are checked against.
///
/// ```swift
/// let contract = try OpenAPIContract(document: Data(contentsOf: url))
/// let response = try await provider.request(.product(id: 7))
/// try contract.check(response)
/// ```
///
/// The document must be OpenAPI 3.0 or 3.1 in JSON. Convert a YAML document first.
///
/// - The operation must have a response for the status, its range such as `4XX`, or `default`.
/// - The response must have one of the media types, and all required header fields.
/// - A JSON body must match its schema, including types, `enum`, `const`, limits, properties, elements, `allOf`,
///   `anyOf`, `oneOf`, `not`, `if`, discriminators, and references within the document, even recursive ones. The
///   formats `date`, `date-time`, `uuid`, `uri`, `email`, `ipv4`, `ipv6`, `byte`, `int32` and `int64` are checked;
///   others aren't. A response may lack `writeOnly` properties. Redacted values match every schema.
/// - The keywords `unevaluatedProperties`, `unevaluatedItems` and `$dynamicRef`, anchors, and bodies other than JSON
///   aren't checked. A reference to another document is a difference, so that nothing is silently skipped.
public struct OpenAPIContract: Sendable {
    let document: OpenAPIDocument
    let operations: OpenAPIOperations

    /// Reads a document.
    ///
    /// - Throws: An error if the document isn't JSON, isn't OpenAPI 3.0 or 3.1, or has a path with an unresolvable
    ///   reference.
    public init(document: Data) throws {
        self.document = try OpenAPIDocument(document)
        operations = try OpenAPIOperations(self.document)
    }

    /// Checks a response.
    ///
    /// - Parameters:
    ///   - response: The response, with its body in memory or in a file.
    ///   - operation: A method and path of the document, such as `"GET /products/{id}"`, or an `operationId`; default
    ///     `nil`: the operation of the response's request.
    /// - Throws: One error with all differences, one line each, with the JSON pointers of the value and of the violated
    ///   keyword. Secret values are redacted.
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
            throw ExpectationFailure("the response has no request; specify its operation, such as GET /products/{id}")
        }
        return try operations.operation(of: request.httpMethod ?? "GET", url: url)
    }
}
