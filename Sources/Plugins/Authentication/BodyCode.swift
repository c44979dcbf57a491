// SPDX-License-Identifier: MIT
import TargetKit

/// A code in a response's JSON, for servers that report errors with a successful status. For calls with an envelope, the
/// envelope can name the codes instead, for example `CodeMessageData(unauthorized: [401])`.
///
/// ```swift
/// BodyCode(keyPath: "status", equals: 401)                  // {"status": 401} and {"status": "401"}
/// BodyCode(keyPath: "error.code", equals: "EXPIRED", "REVOKED")
/// ```
///
/// Numbers match strings: `401` matches `401`, `401.0` and `"401"` in the body. Bodies that aren't valid JSON to their
/// end, lack the value, or were downloaded to a file don't match.
public struct BodyCode: Sendable, Hashable {
    private let path: JSONPath
    private let codes: Set<String>

    private let statusCodes: ClosedRange<Int>

    /// Creates a matcher for codes at a key path.
    ///
    /// - Parameters:
    ///   - keyPath: Keys and array indices separated by dots, for example `error.code` or `errors.0.code`.
    ///   - codes: One or more integers or strings. Strings are compared exactly.
    ///   - statusCodes: The status codes whose bodies are checked; default 200 to 299.
    public init<Code: LosslessStringConvertible>(
        keyPath: String,
        equals codes: Code...,
        statusCodes: ClosedRange<Int> = 200...299
    ) {
        path = JSONPath(keyPath)
        self.codes = Set(codes.map(\.description))
        self.statusCodes = statusCodes
    }

    /// Whether the response's body contains one of the codes.
    public func matches(_ response: Response) -> Bool {
        guard statusCodes.contains(response.statusCode), !response.data.isEmpty,
            let value = try? path.value(in: response.data, validatesRest: false), matches(value)
        else { return false }
        // A code that is cut can be another one. Most bodies have another code, and their rest isn't read.
        return (try? path.value(in: response.data)) != nil
    }

    private func matches(_ value: Data) -> Bool {
        if value.first == UInt8(ascii: "\"") {
            guard let text = try? JSONDecoder().decode(String.self, from: value) else { return false }
            return codes.contains(text)
        }
        let text = String(decoding: value, as: UTF8.self)
        if codes.contains(text) { return true }
        return Double(text).flatMap { Int64(exactly: $0) }.map { codes.contains(String($0)) } ?? false
    }
}

extension TargetKitError {
    /// Whether the call's envelope reports that the credential was rejected, in a response with an accepted status.
    var reportsRejection: Bool {
        rejectedStatusCode == nil && (underlying as? ServerDefinedError)?.isUnauthorized == true
    }
}
