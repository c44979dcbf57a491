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

extension RequestOutcome: CustomStringConvertible, CustomReflectable {
    /// The position, target and result in one line, with secrets redacted.
    public var description: String {
        let outcome =
            switch result {
            case .success(let response): response.description
            case .failure(let error): error.description
            }
        return "\(index), \(target.name): \(outcome)"
    }

    /// Reflects only the description, so `dump` omits the target's associated values.
    public var customMirror: Mirror { Mirror(describing: self) }
}
