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
