// SPDX-License-Identifier: MIT

/// How one of several calls has ended.
public struct RequestOutcome<Target: TargetType>: Sendable {
    /// The place of the target in the list, from 0.
    public let index: Int
    /// The target of the call.
    public let target: Target
    /// What the call has brought.
    public let result: Result<Response, TargetKitError>
}
