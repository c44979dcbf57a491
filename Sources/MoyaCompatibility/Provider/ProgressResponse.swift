// SPDX-License-Identifier: MIT
import Foundation

/// Receives the result of a call.
public typealias Completion = (_ result: Result<Response, MoyaError>) -> Void

/// Receives the progress of a call.
public typealias ProgressBlock = (_ progress: ProgressResponse) -> Void

/// The progress of a call. It is the upload's progress if the target sends a file or a form, or else the download's.
public struct ProgressResponse {
    /// The response, in the last step.
    public let response: Response?
    /// The progress in bytes.
    public let progressObject: Progress?

    /// Creates a step.
    public init(progress: Progress? = nil, response: Response? = nil) {
        progressObject = progress
        self.response = response
    }

    /// The completed fraction from 0 to 1; 0 while the length is unknown, 1 in the last step.
    public var progress: Double {
        if completed { return 1 }
        guard let progressObject, progressObject.totalUnitCount > 0 else { return 0 }
        return progressObject.fractionCompleted
    }

    /// Whether this is the last step.
    public var completed: Bool { response != nil }
}
