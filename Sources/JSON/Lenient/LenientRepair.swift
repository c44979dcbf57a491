// SPDX-License-Identifier: MIT
import TargetKit

/// The key path, type and reason of a value that lenient decoding repaired. It contains no values of the body.
///
/// ```swift
/// let decoder = JSONDecoder.lenient { repair in logger.warning("\(repair)") }
/// ```
struct LenientRepair: Sendable, Hashable, CustomStringConvertible {
    /// The reason for a repair.
    enum Reason: Sendable, Hashable, CaseIterable {
        /// The key is missing, so the default is used.
        case missing
        /// The value is null, so the default is used.
        case null
        /// The value has another type, and was converted.
        case converted
        /// The value has another type and can't be converted, so the default is used.
        case mistyped
        /// An element of an array or dictionary was omitted.
        case dropped
    }

    let reason: Reason

    /// The expected type, for example `Int`.
    let type: String

    /// The key path of the value, with keys and indices separated by dots, for example `items.0.price`. Empty for the
    /// whole body.
    let keyPath: String

    init(_ reason: Reason, type: String, at keyPath: String) {
        self.reason = reason
        self.type = type
        self.keyPath = keyPath
    }

    init(_ reason: Reason, type: String, codingPath: [any CodingKey]) {
        let keys = codingPath.map { key in key.intValue.map { "\($0)" } ?? key.stringValue }
        self.init(reason, type: type, at: keys.joined(separator: "."))
    }

    /// The key path, type and reason in one line.
    var description: String {
        let place = keyPath.isEmpty ? "the body" : keyPath
        return switch reason {
        case .missing: "\(place): missing, replaced by the default of \(type)"
        case .null: "\(place): null, replaced by the default of \(type)"
        case .converted: "\(place): of another type, converted to \(type)"
        case .mistyped: "\(place): not convertible to \(type), replaced by the default"
        case .dropped: "\(place): not decodable as \(type), omitted"
        }
    }
}

extension CodingUserInfoKey {
    /// Never `nil`, because every string is a valid key.
    fileprivate static let lenientObserver = CodingUserInfoKey(rawValue: "TargetKit.lenientObserver")
}

extension JSONDecoder {
    /// A closure that is called for each repair, on the decoding thread; default: `nil`.
    var lenientObserver: (@Sendable (LenientRepair) -> Void)? {
        get { CodingUserInfoKey.lenientObserver.flatMap { userInfo[$0] as? @Sendable (LenientRepair) -> Void } }
        set { if let key = CodingUserInfoKey.lenientObserver { userInfo[key] = newValue } }
    }
}

extension Decoder {
    var lenientObserver: (@Sendable (LenientRepair) -> Void)? {
        CodingUserInfoKey.lenientObserver.flatMap { userInfo[$0] as? @Sendable (LenientRepair) -> Void }
    }
}
