// SPDX-License-Identifier: MIT
import TargetKit

/// The stored description, stage and kind of a failure during an earlier launch.
package struct StoredFailure: Error, Sendable, Hashable, Codable {
    /// The line for the developer, including the underlying error's line.
    let text: String
    private var stageName: String?
    private var kindName: String?
    private var status: Int?

    private enum CodingKeys: String, CodingKey {
        case text
        case stageName = "stage"
        case kindName = "kind"
        case status
    }

    /// Creates the stored form of a failure.
    package init(_ error: TargetKitError) {
        text = error.description
        stageName = "\(error.stage)"
        kindName = "\(error.kind)"
        status = error.response?.statusCode ?? (error.underlying as? any ErrorWithKind)?.statusCode
    }

    /// Creates a failure with only a description.
    package init(text: String) {
        self.text = text
    }

    /// The error, with this one as the underlying error.
    package func error(of target: any TargetType) -> TargetKitError {
        let stage = TargetKitError.Stage.allCases.first { "\($0)" == stageName } ?? .transport
        var error = TargetKitError(stage: stage, target: target, underlying: self)
        error.mark(.ofEarlierLaunch)
        return error
    }
}

extension StoredFailure: ErrorWithKind, DescribedError {
    package var kind: TargetKitError.Kind? { TargetKitError.Kind.allCases.first { "\($0)" == kindName } ?? .unknown }

    package var statusCode: Int? { status }

    package var redactedDescription: String { text }
}
