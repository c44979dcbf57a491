// SPDX-License-Identifier: MIT

/// Hears what lenient decoding mends, to log it or to tell the server's people.
///
/// ```swift
/// decoder.userInfo[.lenientObserver] = LenientObserver { repair in logger.warning("\(repair)") }
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
    /// The key of a ``LenientObserver`` in a decoder's `userInfo`.
    public static let lenientObserver: CodingUserInfoKey = {
        guard let key = CodingUserInfoKey(rawValue: "TargetKit.lenientObserver") else {
            preconditionFailure("Every text makes a CodingUserInfoKey.")
        }
        return key
    }()
}
