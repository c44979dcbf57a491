// SPDX-License-Identifier: MIT

/// The status codes that count as success. Any other code fails the call with stage `.status`; the error has the
/// response.
public struct StatusValidation: Sendable, Hashable {
    private enum Rule: Sendable, Hashable {
        case all
        case range(ClosedRange<Int>)
        case codes(Set<Int>)
    }

    private let rule: Rule

    /// All status codes.
    public static let none = Self(rule: .all)
    /// 200 to 299.
    public static let successCodes = Self(rule: .range(200...299))
    /// 200 to 399.
    public static let successAndRedirectCodes = Self(rule: .range(200...399))

    /// Only the given codes: `.codes([200, 404])`, `.codes(200..<205)`.
    public static func codes(_ codes: some Sequence<Int>) -> Self {
        Self(rule: .codes(Set(codes)))
    }

    /// Whether the code counts as success.
    public func accepts(_ statusCode: Int) -> Bool {
        switch rule {
        case .all: true
        case .range(let range): range.contains(statusCode)
        case .codes(let codes): codes.contains(statusCode)
        }
    }
}
