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

extension StatusValidation {
    /// The successes whose body isn't the requested file (RFC 9110 §15.3.3, §15.3.5, §15.3.6).
    private static let withoutFile: Set<Int> = [202, 204, 205]

    /// The status codes that count as success of a download. Codes without a file count only if the target lists them.
    package var ofDownload: Self {
        guard case .range(let range) = rule else { return self }
        return .codes(range.filter { !Self.withoutFile.contains($0) })
    }

    /// Whether the body of a response is the file of a download.
    package func acceptsFile(_ statusCode: Int) -> Bool {
        (200...299).contains(statusCode) && accepts(statusCode) && !Self.withoutFile.contains(statusCode)
    }
}
