// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// A code in a response's JSON, for servers that report errors with a successful status.
///
/// ```swift
/// BodyCode(keyPath: "status", equals: 401)                  // {"status": 401} and {"status": "401"}
/// BodyCode(keyPath: "error.code", equals: "EXPIRED", "REVOKED")
/// ```
///
/// Numbers match strings: `401` matches `401`, `401.0` and `"401"` in the body. A body that is not JSON, has no such value, or was
/// downloaded to a file does not match.
public struct BodyCode: Sendable, Hashable {
    private let path: JSONPath
    private let codes: Set<String>

    /// The status codes whose bodies are checked; default 200 to 299.
    public var statusCodes: ClosedRange<Int> = 200...299

    /// One of those numbers at a key path.
    ///
    /// - Parameters:
    ///   - keyPath: Keys and array indices separated by dots: `error.code`, `errors.0.code`.
    ///   - codes: One or more numbers.
    public init(keyPath: String, equals codes: Int...) {
        self.init(keyPath: keyPath, anyOf: codes.map { String($0) })
    }

    /// One of those strings at a key path.
    ///
    /// - Parameters:
    ///   - keyPath: Keys and array indices separated by dots: `error.code`, `errors.0.code`.
    ///   - codes: One or more strings, compared exactly.
    public init(keyPath: String, equals codes: String...) {
        self.init(keyPath: keyPath, anyOf: codes)
    }

    /// One of those strings, or a number that is written like one of them.
    package init(keyPath: String, anyOf codes: some Sequence<String>) {
        path = JSONPath(keyPath)
        self.codes = Set(codes)
    }

    /// Whether the response's body contains one of the codes.
    public func matches(_ response: Response) -> Bool {
        guard statusCodes.contains(response.statusCode), !response.data.isEmpty,
            let value = try? path.value(in: response.data)
        else { return false }
        if value.first == UInt8(ascii: "\"") {
            guard let text = try? JSONDecoder().decode(String.self, from: value) else { return false }
            return codes.contains(text)
        }
        let text = String(decoding: value, as: UTF8.self)
        if codes.contains(text) { return true }
        return Double(text).flatMap { Int(exactly: $0) }.map { codes.contains(String($0)) } ?? false
    }
}
