// SPDX-License-Identifier: MIT

#if canImport(Security)
import Security
#endif

/// Redacts errors of Foundation and the standard library. Type and code are retained; quoted content is removed.
enum RedactedError {
    /// The redacted error; the error itself if there is nothing to redact.
    static func of(_ error: any Error) -> any Error {
        let redacted = FoundationError(error).map { $0.redacted(depth: 0) } ?? redacted(coding: error)
        return redacted ?? error
    }

    /// The error to store under `NSUnderlyingErrorKey`, whose text becomes part of the outer error's text.
    ///
    /// An error whose text may be unsafe is replaced by its domain and code, because its associated values can be
    /// secrets.
    static func underlying(_ error: any Error) -> any Error {
        nested(error, depth: 0) ?? error
    }

    /// The replacement of an error within another; `nil` if the error is safe.
    private static func nested(_ error: any Error, depth: Int) -> (any Error)? {
        if let foundation = FoundationError(error) {
            if let safe = foundation.redacted(depth: depth) { return safe }
            // A type of the app that inherits from `NSError` can have further properties.
            return foundation.isInherited ? foundation.with(foundation.userInfo) : nil
        }
        switch error {
        // Swift's own text for an enum quotes the value: "Cannot initialize Kind from invalid String value …".
        case let error as DecodingError: return error.withoutText
        case is any ReflectsDescription, is any ErrorWithKind, is CancellationError: return nil
        case is EncodingError: return redacted(coding: error)
        default:
            let bridged = error as NSError
            let info = [NSLocalizedDescriptionKey: "\(ErrorDescription(error))"]
            return NSError(domain: bridged.domain, code: bridged.code, userInfo: info)
        }
    }

    /// The redacted error of a coder; `nil` when there is nothing to redact.
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

    private static let placeholder = SecretFields.placeholder
}

/// The `userInfo` of errors. Only a few kinds of values are retained. Any other value can contain a URL with a secret
/// or a header field, so it is replaced by the name of its type.
extension RedactedError {
    /// The maximum depth of errors, arrays and dictionaries; no transport exceeds it.
    private static let depthLimit = 8

    /// The redacted values; `nil` if there is nothing to redact.
    fileprivate static func redacted(_ info: [String: Any], depth: Int) -> [String: Any]? {
        guard depth < depthLimit else { return info.isEmpty ? nil : [:] }
        var result: [String: Any] = [:]
        var isChanged = false
        for (key, value) in info {
            let isUsual = usualKeys.contains(key)
            let name = isUsual ? key : RedactedURL.inside(key)
            let safe = !isUsual && isSecret(key) ? SecretFields.placeholder : redacted(value, depth: depth + 1)
            if safe != nil || name != key { isChanged = true }
            result[name] = safe ?? value
        }
        return isChanged ? result : nil
    }

    /// The keys of most errors, which contain neither a URL nor the name of a secret.
    private static let usualKeys: Set = [NSURLErrorFailingURLErrorKey, NSLocalizedDescriptionKey, NSUnderlyingErrorKey]

    /// Whether a key indicates a secret. Keys of the system end with `Key`, which isn't part of the name.
    private static func isSecret(_ key: String) -> Bool {
        let isSystem = ["NS", "kCF", "_kCF"].contains(where: key.hasPrefix)
        return SecretFields.isSecret(isSystem && key.hasSuffix("Key") ? key.dropLast(3) : key[...])
    }

    /// The replacement of a value; `nil` if the value is safe.
    private static func redacted(_ value: Any, depth: Int) -> Any? {
        switch value {
        // First, because they are the usual values, and the other casts convert them to objects of Foundation.
        case let text as String:
            let safe = RedactedURL.inside(text)
            return safe == text ? nil : safe
        case let url as URL:
            let safe = url.redacted
            return safe == url ? nil : safe
        case is any Numeric, is Bool, is NSNumber, is Date: return nil
        #if canImport(Security)
        // The server's certificates. `URLError.failureURLPeerTrust` reads them without checking their type.
        case _ where CFGetTypeID(value as AnyObject) == SecTrustGetTypeID(): return nil
        #endif
        case let error as any Error: return nested(error, depth: depth)
        case let info as [String: Any]: return redacted(info, depth: depth)
        case let values as [Any]:
            guard depth < depthLimit else { return [] as [Any] }
            let safe = values.map { redacted($0, depth: depth + 1) }
            return safe.contains { $0 != nil } ? zip(values, safe).map { $1 ?? $0 } : nil
        default: return String(describing: type(of: value))
        }
    }
}

/// An error of Foundation, whose values are in its `userInfo`.
///
/// Checks the error's dynamic type. On Linux (Swift 6.3.1), an `NSError` of any domain can be cast to `CocoaError`, and
/// the underlying error of the result is the error itself.
private struct FoundationError {
    let userInfo: [String: Any]
    /// Whether the type is a subclass of a type of Foundation.
    let isInherited: Bool
    /// The error with another `userInfo`.
    let with: ([String: Any]) -> any Error

    /// `nil` for an error of another type.
    init?(_ error: any Error) {
        let type = type(of: error)
        isInherited = type is NSError.Type && type != NSError.self
        if type is NSError.Type {
            let error = error as NSError
            (userInfo, with) = (error.userInfo, { NSError(domain: error.domain, code: error.code, userInfo: $0) })
        } else if type == URLError.self, let error = error as? URLError {
            (userInfo, with) = (error.userInfo, { URLError(error.code, userInfo: $0) })
        } else if type == CocoaError.self, let error = error as? CocoaError {
            (userInfo, with) = (error.userInfo, { CocoaError(error.code, userInfo: $0) })
        } else if type == POSIXError.self, let error = error as? POSIXError {
            (userInfo, with) = (error.userInfo, { POSIXError(error.code, userInfo: $0) })
        } else {
            return nil
        }
    }

    /// The redacted error; `nil` if there is nothing to redact.
    func redacted(depth: Int) -> (any Error)? {
        RedactedError.redacted(userInfo, depth: depth).map(with)
    }
}

/// Replaces a value that couldn't be encoded.
struct HiddenValue: CustomStringConvertible {
    /// The type of the value.
    let type: any Any.Type

    var description: String { SecretFields.placeholder }
}

extension DecodingError.Context {
    /// Whether a key in the value's coding path indicates a secret.
    fileprivate var isSecret: Bool { codingPath.contains { SecretFields.isSecret($0.stringValue) } }
}

extension DecodingError {
    /// This error without the decoder's text, which may quote the body.
    fileprivate var withoutText: DecodingError {
        func bare(_ context: Context) -> Context {
            Context(codingPath: context.codingPath, debugDescription: "\(ErrorDescription(self))")
        }
        return switch self {
        case .keyNotFound(let key, let context): .keyNotFound(key, bare(context))
        case .valueNotFound(let type, let context): .valueNotFound(type, bare(context))
        case .typeMismatch(let type, let context): .typeMismatch(type, bare(context))
        case .dataCorrupted(let context): .dataCorrupted(bare(context))
        @unknown default: self
        }
    }
}
