// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Redacts errors of Foundation and the standard library: the result has the same type and code, without quoted
/// content.
enum RedactedError {
    /// The redacted error; the error itself when it contains nothing to redact.
    static func of(_ error: any Error) -> any Error {
        redacted(error) ?? error
    }

    /// The error to store under `NSUnderlyingErrorKey`, whose text becomes part of the outer error's text.
    ///
    /// An error whose text is not known to be safe is replaced by its domain and code: its associated values can be
    /// secrets.
    static func underlying(_ error: any Error) -> any Error {
        switch error {
        case is TargetKitError, is InvalidRequest, is MultipartError, is ParameterEncodingError, is ServerDefinedError,
            is CancellationError, is any FailureOfKind, is URLError, is CocoaError, is POSIXError, is DecodingError,
            is EncodingError:
            return of(error)
        default:
            if type(of: error) is NSError.Type { return of(error) }
            let bridged = error as NSError
            let info = [NSLocalizedDescriptionKey: "\(ErrorText(error))"]
            return NSError(domain: bridged.domain, code: bridged.code, userInfo: info)
        }
    }

    /// The redacted error; `nil` when there is nothing to redact. Checks the error's own type: on Linux, an `NSError`
    /// of any domain can be cast to `CocoaError` (Swift 6.3.1), whose underlying error is the error itself, without
    /// end.
    private static func redacted(_ error: any Error, depth: Int = 0) -> (any Error)? {
        let type = type(of: error)
        if type is NSError.Type {
            let error = error as NSError
            let info = redacted(error.userInfo, depth: depth)
            return info.map { NSError(domain: error.domain, code: error.code, userInfo: $0) }
        }
        if type == URLError.self, let error = error as? URLError {
            return redacted(error.userInfo, depth: depth).map { URLError(error.code, userInfo: $0) }
        }
        if type == CocoaError.self, let error = error as? CocoaError {
            return redacted(error.userInfo, depth: depth).map { CocoaError(error.code, userInfo: $0) }
        }
        if type == POSIXError.self, let error = error as? POSIXError {
            return redacted(error.userInfo, depth: depth).map { POSIXError(error.code, userInfo: $0) }
        }
        return redacted(coding: error)
    }

    private static func redacted(coding error: any Error) -> (any Error)? {
        switch error {
        case DecodingError.dataCorrupted(let context) where context.isSecret:
            DecodingError.dataCorrupted(.init(codingPath: context.codingPath, debugDescription: placeholder))
        case EncodingError.invalidValue(let value, let context) where !(value is HiddenValue):
            EncodingError.invalidValue(
                HiddenValue(type: type(of: value)),
                .init(codingPath: context.codingPath, debugDescription: placeholder)
            )
        default: nil
        }
    }

    private static func redacted(_ info: [String: Any], depth: Int) -> [String: Any]? {
        // No transport nests errors more deeply.
        guard depth < 8 else { return info.isEmpty ? nil : [:] }
        var result = info
        var isChanged = false
        for (key, value) in info {
            guard let safe = redacted(any: value, depth: depth + 1) else { continue }
            result[key] = safe
            isChanged = true
        }
        return isChanged ? result : nil
    }

    private static func redacted(any value: Any, depth: Int) -> Any? {
        switch value {
        case let url as URL:
            return url.redacted == url ? nil : url.redacted
        case let text as String:
            let safe = RedactedURL.inside(text)
            return safe == text ? nil : safe
        case let error as any Error:
            let type = type(of: error)
            let isFoundations =
                type is NSError.Type || type == URLError.self || type == CocoaError.self || type == POSIXError.self
            return isFoundations ? redacted(error, depth: depth) : underlying(error)
        case let info as [String: Any]: return redacted(info, depth: depth)
        case let values as [Any]:
            guard depth < 8 else { return [] as [Any] }
            let safe = values.map { redacted(any: $0, depth: depth + 1) }
            return safe.contains { $0 != nil } ? zip(values, safe).map { $1 ?? $0 } : nil
        default: return nil
        }
    }

    private static let placeholder = HeaderRedaction.placeholder
}

/// Replaces a value that could not be encoded.
struct HiddenValue: CustomStringConvertible {
    /// The type of the value.
    let type: any Any.Type

    var description: String { HeaderRedaction.placeholder }
}

extension DecodingError.Context {
    /// Whether a key in the value's coding path is that of a secret.
    fileprivate var isSecret: Bool { codingPath.contains { SecretFields.isSecret($0.stringValue) } }
}
