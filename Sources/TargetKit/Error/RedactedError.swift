// SPDX-License-Identifier: MIT

#if canImport(Security)
import Security
#endif

/// Redacts errors of Foundation and the standard library. Type and code are retained; quoted content is removed.
enum RedactedError {
    /// The redacted error; the error itself if there is nothing to redact.
    static func of(_ error: any Error) -> any Error {
        guard isOfFoundation(error) else { return redacted(coding: error) ?? error }
        return redacted((error as NSError).userInfo).map { with($0, error) } ?? error
    }

    /// The error to store under `NSUnderlyingErrorKey`, whose text becomes part of the outer error's text.
    ///
    /// An error whose text may be unsafe is replaced by its domain and code, because its associated values can be
    /// secrets.
    static func underlying(_ error: any Error) -> any Error {
        guard isOfFoundation(error) else { return nested(error) ?? error }
        // A type of the app that inherits from `NSError` can have further properties.
        let info = (error as NSError).userInfo
        return with(redacted(info) ?? info, error)
    }

    /// The replacement of an error within another; `nil` if the error is safe.
    private static func nested(_ error: any Error) -> (any Error)? {
        if isOfFoundation(error) {
            let words = (error as NSError).userInfo[NSLocalizedDescriptionKey] as? String
            return with(words.map { [NSLocalizedDescriptionKey: RedactedURL.inside($0)] } ?? [:], error)
        }
        switch error {
        // Swift's own text for an enum quotes the value: "Cannot initialize Kind from invalid String value …".
        case let error as DecodingError: return error.withoutText
        case is any ReflectsDescription, is any ErrorWithKind, is CancellationError: return nil
        case is EncodingError: return redacted(coding: error)
        default: return with([NSLocalizedDescriptionKey: error.redactedLine], error)
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

extension Error {
    /// The redacted error; the error itself if there is nothing to redact.
    package var redacted: any Error { RedactedError.of(self) }
}

/// The errors of Foundation, whose values are in their `userInfo`.
///
/// They are recognized by their dynamic type. On Linux (Swift 6.3.1), an `NSError` of any domain can be cast to
/// `CocoaError`, and the underlying error of the result is the error itself.
extension RedactedError {
    private static func isOfFoundation(_ error: any Error) -> Bool {
        let type = type(of: error)
        return type is NSError.Type || type == URLError.self || type == CocoaError.self || type == POSIXError.self
    }

    /// An error with the domain and code of another one.
    private static func with(_ info: [String: Any], _ error: any Error) -> any Error {
        let type = type(of: error)
        if type == URLError.self, let error = error as? URLError { return URLError(error.code, userInfo: info) }
        if type == CocoaError.self, let error = error as? CocoaError { return CocoaError(error.code, userInfo: info) }
        let error = error as NSError
        return NSError(domain: error.domain, code: error.code, userInfo: info)
    }

    /// The redacted values of an error; `nil` if there is nothing to redact. Only a few kinds of values are retained.
    /// Any other value, such as an array, can contain a URL with a secret or a header field, so it is replaced by the
    /// name of its type.
    private static func redacted(_ info: [String: Any]) -> [String: Any]? {
        var result: [String: Any] = [:]
        var isChanged = false
        for (key, value) in info {
            let isUsual = usualKeys.contains(key)
            let name = isUsual ? key : RedactedURL.inside(key)
            let safe = !isUsual && isSecret(key) ? placeholder : redacted(value)
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
        return SecretFields.canBeSecret(isSystem && key.hasSuffix("Key") ? key.dropLast(3) : key[...])
    }

    /// The replacement of a value; `nil` if the value is safe.
    private static func redacted(_ value: Any) -> Any? {
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
        case let error as any Error: return nested(error)
        default: return String(describing: type(of: value))
        }
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
    fileprivate var isSecret: Bool { codingPath.contains { SecretFields.canBeSecret($0.stringValue) } }
}

extension DecodingError {
    /// This error without the decoder's text, which may quote the body.
    fileprivate var withoutText: DecodingError {
        changed { Context(codingPath: $0.codingPath, debugDescription: redactedLine) }
    }
}
