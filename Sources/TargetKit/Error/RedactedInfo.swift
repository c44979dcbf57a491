// SPDX-License-Identifier: MIT
import Foundation

#if canImport(Security)
import Security
#endif

/// Redacts the `userInfo` of errors. Few kinds of values are kept, since any other can hold a URL with a secret or a
/// header field: it is replaced by the name of its type.
enum RedactedInfo {
    /// The maximum depth of errors, arrays and dictionaries; no transport nests them more deeply.
    private static let depthLimit = 8

    /// The redacted values; `nil` when there is nothing to redact.
    static func of(_ info: [String: Any], depth: Int) -> [String: Any]? {
        guard depth < depthLimit else { return info.isEmpty ? nil : [:] }
        var result: [String: Any] = [:]
        var isChanged = false
        for (key, value) in info {
            let name = RedactedURL.inside(key)
            let safe = isSecret(key) ? HeaderRedaction.placeholder : redacted(value, depth: depth + 1)
            if safe != nil || name != key { isChanged = true }
            result[name] = safe ?? value
        }
        return isChanged ? result : nil
    }

    /// Whether a value is a secret by its key. Keys of the system end with `Key`, which is not a part of the name.
    private static func isSecret(_ key: String) -> Bool {
        let isSystem = ["NS", "kCF", "_kCF"].contains(where: key.hasPrefix)
        return SecretFields.isSecret(isSystem && key.hasSuffix("Key") ? key.dropLast(3) : key[...])
    }

    /// What replaces a value; `nil` when it is safe as it is.
    private static func redacted(_ value: Any, depth: Int) -> Any? {
        switch value {
        case is any Numeric, is Bool, is NSNumber, is Date: return nil
        #if canImport(Security)
        // The server's certificates. `URLError.failureURLPeerTrust` reads them without a check of their type.
        case _ where CFGetTypeID(value as AnyObject) == SecTrustGetTypeID(): return nil
        #endif
        case let url as URL:
            return url.redacted == url ? nil : url.redacted
        case let text as String:
            let safe = RedactedURL.inside(text)
            return safe == text ? nil : safe
        case let error as any Error: return RedactedError.nested(error, depth: depth)
        case let info as [String: Any]: return of(info, depth: depth)
        case let values as [Any]:
            guard depth < depthLimit else { return [] as [Any] }
            let safe = values.map { redacted($0, depth: depth + 1) }
            return safe.contains { $0 != nil } ? zip(values, safe).map { $1 ?? $0 } : nil
        default: return String(describing: type(of: value))
        }
    }
}
