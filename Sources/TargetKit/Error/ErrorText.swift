// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// An underlying error in one line. Only errors whose texts are known to hold no values of the caller speak for themselves.
struct ErrorText: CustomStringConvertible {
    let description: String

    init(_ error: any Error) {
        let text =
            switch error {
            case let error as InvalidRequest: error.description
            case let error as MultipartError: error.description
            case let error as ParameterEncodingError: error.description
            case let error as URLError: "URLError \(error.code.rawValue)"
            case let error as DecodingError: Self.text(of: error)
            case let error as EncodingError: Self.text(of: error)
            case is CancellationError: "cancelled"
            case let error as any LocalizedError: error.errorDescription ?? Self.name(of: error)
            default: Self.name(of: error)
            }
        description = text.split(whereSeparator: \.isNewline).joined(separator: " ")
    }

    private static func text(of error: DecodingError) -> String {
        switch error {
        case .keyNotFound(let key, let context): "no value at \(path(context.codingPath + [key]))"
        case .valueNotFound(let type, let context): "null instead of \(type) at \(path(context.codingPath))"
        case .typeMismatch(let type, let context): "no \(type) at \(path(context.codingPath))"
        case .dataCorrupted(let context): "not readable at \(path(context.codingPath))"
        @unknown default: "not readable"
        }
    }

    private static func text(of error: EncodingError) -> String {
        switch error {
        case .invalidValue(let value, let context): "a \(type(of: value)) that cannot be encoded at \(path(context.codingPath))"
        @unknown default: "not encodable"
        }
    }

    private static func path(_ keys: [any CodingKey]) -> String {
        guard !keys.isEmpty else { return "the top" }
        return keys.map { key in key.intValue.map { "[\($0)]" } ?? key.stringValue }.joined(separator: ".")
    }

    /// The type and, for an enum, the case, without associated values: they may be secrets.
    private static func name(of error: any Error) -> String {
        let type = String(describing: type(of: error))
        let mirror = Mirror(reflecting: error)
        guard mirror.displayStyle == .enum else { return type }
        return "\(type).\(mirror.children.first?.label ?? "\(error)")"
    }
}
