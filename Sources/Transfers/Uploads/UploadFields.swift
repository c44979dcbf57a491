// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

/// A number in a header field.
enum UploadNumber: Sendable, Hashable {
    case absent
    case malformed
    case value(Int64)
}

extension HTTPHeaders {
    /// A number that isn't negative, as in `Upload-Offset`.
    ///
    /// - Parameter allowsParameters: Whether the value may have parameters, which are ignored (RFC 9651 §3.3).
    func number(_ name: HTTPHeaderName, allowsParameters: Bool = false) -> UploadNumber {
        let values = Set(values(for: name))
        guard let field = values.first else { return .absent }
        guard values.count == 1 else { return .malformed }
        let text = allowsParameters ? field.withoutParameters : field[...]
        // RFC 9651 §3.3.1 allows up to 15 digits.
        guard (1...15).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = Int64(text)
        else { return .malformed }
        return .value(number)
    }

    /// The Boolean of `Upload-Complete`; `nil` if it is absent or isn't one.
    var uploadComplete: Bool? {
        let values = Set(values(for: .uploadComplete).map { String($0.withoutParameters) })
        return values == ["?1"] ? true : values == ["?0"] ? false : nil
    }

    /// The elements of a list in lowercase, without surrounding spaces.
    func list(_ name: HTTPHeaderName) -> [String] {
        values(for: name).flatMap(\.listElements).map { $0.lowercased() }
    }

    /// The time of `Upload-Expires`; `nil` if it is absent or isn't a date.
    func uploadExpiry(now: Date) -> Date? {
        let values = values(for: .uploadExpires)
        return values.count == 1 ? HTTPDate.parse(values[0], now: now) : nil
    }
}

extension String {
    /// An item without its parameters (RFC 9651 §3.1.2).
    fileprivate var withoutParameters: Substring {
        var item = prefix { $0 != ";" }
        while item.last == " " { item.removeLast() }
        return item
    }
}

/// The limits of an `Upload-Limit` field.
struct UploadLimits: Sendable, Hashable {
    var maxSize: Int64?
    var minSize: Int64?
    var maxAppendSize: Int64?
    var minAppendSize: Int64?
    var maxAge: Int64?

    /// No limits.
    init() {}

    /// The limits of a response. A field that isn't valid is ignored as a whole.
    init(_ headers: HTTPHeaders) {
        self = Self.parsed(headers) ?? UploadLimits()
    }

    /// The limits of a response; `nil` if it has none, or the field isn't valid.
    static func parsed(_ headers: HTTPHeaders) -> UploadLimits? {
        let values = headers.values(for: .uploadLimit)
        guard values.contains(where: { !$0.isEmpty }) else { return nil }
        var limits = UploadLimits()
        for value in values {
            for member in value.split(separator: ",", omittingEmptySubsequences: false) {
                let member = member.trimmingCharacters(in: CharacterSet(charactersIn: " \t"))
                if member.isEmpty, value.allSatisfy({ $0 == " " }) { continue }
                let key = member.prefix { $0 != "=" && $0 != ";" }
                guard isKey(key) else { return nil }
                guard let path = paths[String(key)] else { continue }
                let item = member.dropFirst(key.count)
                guard item.first == "=", let number = number(String(item.dropFirst())) else { return nil }
                limits[keyPath: path] = number
            }
        }
        return limits
    }

    private static func number(_ text: String) -> Int64? {
        let digits = text.withoutParameters
        guard (1...15).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int64(digits)
    }

    private static func isKey(_ text: Substring) -> Bool {
        guard let first = text.utf8.first, (0x61...0x7A).contains(first) || first == UInt8(ascii: "*") else {
            return false
        }
        return text.utf8.allSatisfy {
            (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || "_-.*".utf8.contains($0)
        }
    }

    private static var paths: [String: WritableKeyPath<UploadLimits, Int64?>] {
        [
            "max-size": \.maxSize, "min-size": \.minSize, "max-append-size": \.maxAppendSize,
            "min-append-size": \.minAppendSize, "max-age": \.maxAge,
        ]
    }
}

extension HTTPHeaderName {
    static let acceptPatch = Self(rawValue: "Accept-Patch")
    static let tusChecksumAlgorithm = Self(rawValue: "Tus-Checksum-Algorithm")
    static let tusExtension = Self(rawValue: "Tus-Extension")
    static let tusMaxSize = Self(rawValue: "Tus-Max-Size")
    static let tusResumable = Self(rawValue: "Tus-Resumable")
    static let tusVersion = Self(rawValue: "Tus-Version")
    static let uploadChecksum = Self(rawValue: "Upload-Checksum")
    static let uploadComplete = Self(rawValue: "Upload-Complete")
    static let uploadExpires = Self(rawValue: "Upload-Expires")
    static let uploadInteropVersion = Self(rawValue: "Upload-Draft-Interop-Version")
    static let uploadLength = Self(rawValue: "Upload-Length")
    static let uploadLimit = Self(rawValue: "Upload-Limit")
    static let uploadMetadata = Self(rawValue: "Upload-Metadata")
    static let uploadOffset = Self(rawValue: "Upload-Offset")
}
