// SPDX-License-Identifier: MIT
import TargetKit

/// A target whose calls carry a key by which the server knows a repetition, so that a POST can be sent again.
///
/// A ``RetryPlugin`` asks for it once for each call, and sends it as `Idempotency-Key` with every attempt.
///
/// ```swift
/// extension Payments: IdempotentTarget {
///     var idempotencyKey: String? { draft.id.uuidString }
/// }
/// ```
public protocol IdempotentTarget: TargetType {
    /// The key, sent as it is (draft-ietf-httpapi-idempotency-key-header wants it in quotation marks, many servers do not);
    /// `nil` or an empty text: the call carries none. One with CR, LF or NUL ends the call, with stage `.request`.
    ///
    /// It has to be another one for each thing that is to be done, and the same for one that the person starts again: a property
    /// of what is sent rather than a random number that is made here.
    var idempotencyKey: String? { get }
}
