// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A target that turns failures into the app's own errors.
///
/// ```swift
/// extension Orders: ErrorMappingTarget {
///     func appError(for response: Response) -> (any Error)? {
///         switch response.statusCode {
///         case 402: OrderError.paymentNeeded
///         case 200: try? response.json()["soldOut"].bool == true ? OrderError.soldOut : nil
///         default: nil
///         }
///     }
/// }
/// ```
///
/// The error becomes ``TargetKitError/appError``; stage, kind, response and underlying error do not change. If it is a
/// `LocalizedError`, it also provides ``TargetKitError/errorDescription``. If both methods return `nil`, nothing
/// changes.
///
/// The methods are called once for each call, after the last attempt and before the plugins' `process`, which sees the
/// error. They are not called for a cancelled call. A response whose body is in a file or a stream has no data.
public protocol ErrorMappingTarget: TargetType {
    /// Returns the app's error for a response, by its status, header fields or body; `nil` if there is none.
    ///
    /// It is called for every response, including one whose status the target's validation accepts. The call then fails
    /// with stage `.status` if the status is 400 or more, otherwise with stage `.envelope`.
    func appError(for response: Response) -> (any Error)?

    /// Returns the app's error for a failed exchange; `nil` if there is none.
    func appError(for code: URLError.Code) -> (any Error)?
}

extension ErrorMappingTarget {
    /// Returns `nil`.
    public func appError(for response: Response) -> (any Error)? { nil }

    /// Returns `nil`.
    public func appError(for code: URLError.Code) -> (any Error)? { nil }

    /// The result with the target's error added.
    func mapped(_ result: Result<Response, TargetKitError>) -> Result<Response, TargetKitError> {
        switch result {
        case .success(let response):
            guard let appError = appError(for: response) else { return result }
            let stage: TargetKitError.Stage = response.statusCode >= 400 ? .status : .envelope
            let request = response.request
            return .failure(
                TargetKitError(stage: stage, target: self, request: request, response: response, appError: appError)
            )
        case .failure(var error):
            guard error.stage != .cancelled, error.appError == nil else { return result }
            if let response = error.response, error.stage != .transport {
                error.appError = appError(for: response)
            } else if let code = (error.underlying as? URLError)?.code {
                error.appError = appError(for: code)
            }
            return .failure(error)
        }
    }
}
