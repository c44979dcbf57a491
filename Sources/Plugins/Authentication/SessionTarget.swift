// SPDX-License-Identifier: MIT
import TargetKit

/// A target that says whether its call is made on behalf of the user who is signed in. Targets that do not conform are.
///
/// The call that signs in is not: its 401 means a wrong password, not a session that has ended.
public protocol SessionTarget: TargetType {
    /// Whether an ``UnauthorizedPlugin`` looks at this call, and cancels it when the session ends.
    var belongsToSession: Bool { get }
}
