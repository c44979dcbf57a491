// SPDX-License-Identifier: MIT

import Foundation

/// Hears what lenient decoding mends, to log it or to tell the server's people.
///
/// ```swift
/// decoder.lenientObserver = LenientObserver { repair in logger.warning("\(repair)") }
/// ```
/// It is called while decoding, on the thread that decodes, once for each repair.
public struct LenientObserver: Sendable {
    let report: @Sendable (LenientRepair) -> Void

    /// An observer that calls a closure.
    public init(_ report: @escaping @Sendable (LenientRepair) -> Void) {
        self.report = report
    }
}

extension CodingUserInfoKey {
    /// Never `nil`: every text makes a key.
    fileprivate static let lenientObserver = CodingUserInfoKey(rawValue: "TargetKit.lenientObserver")
}

extension JSONDecoder {
    /// Who hears what lenient properties mend; default `nil`: nobody.
    public var lenientObserver: LenientObserver? {
        get { CodingUserInfoKey.lenientObserver.flatMap { userInfo[$0] as? LenientObserver } }
        set { if let key = CodingUserInfoKey.lenientObserver { userInfo[key] = newValue } }
    }
}

extension Decoder {
    /// Who hears what is mended.
    var lenientObserver: LenientObserver? {
        CodingUserInfoKey.lenientObserver.flatMap { userInfo[$0] as? LenientObserver }
    }
}

/// One thing that lenient decoding put right: where, for what type, and why. It holds no value of the body.
public struct LenientRepair: Sendable, Hashable, CustomStringConvertible {
    /// What was wrong.
    public enum Reason: Sendable, Hashable, CaseIterable {
        /// There was no such key: the default stands for it.
        case missing
        /// There was null: the default stands for it.
        case null
        /// There was something of another type, and the value was made of it.
        case converted
        /// There was something that no value can be made of: the default stands for it.
        case mistyped
        /// An element of an array or dictionary was left out.
        case dropped
    }

    /// What was wrong.
    public let reason: Reason

    /// The type that was asked for, `Int` for one.
    public let type: String

    /// Where: keys and indices with dots between them, `items.0.price`. Empty for the whole body.
    public let keyPath: String

    /// A repair at a key path.
    public init(_ reason: Reason, type: String, at keyPath: String) {
        self.reason = reason
        self.type = type
        self.keyPath = keyPath
    }

    init(_ reason: Reason, type: String, codingPath: [any CodingKey]) {
        let keys = codingPath.map { key in key.intValue.map { "\($0)" } ?? key.stringValue }
        self.init(reason, type: type, at: keys.joined(separator: "."))
    }

    /// One line: the place, the type, and what was wrong.
    public var description: String {
        let place = keyPath.isEmpty ? "the body" : keyPath
        return switch reason {
        case .missing: "\(place): no such key, the default for \(type) is taken"
        case .null: "\(place): null, the default for \(type) is taken"
        case .converted: "\(place): of another type, made into \(type)"
        case .mistyped: "\(place): cannot be made into \(type), the default is taken"
        case .dropped: "\(place): is no \(type), left out"
        }
    }
}
