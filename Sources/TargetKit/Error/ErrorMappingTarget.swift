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
/// The error arrives as ``TargetKitError/appError``; stage, kind, response and underlying error stay what they are. A
/// `LocalizedError` then speaks for itself in ``TargetKitError/errorDescription``. Where both answer `nil`, nothing changes.
///
/// The target is asked once for each call, when no attempt is left and before the plugins' `process`, so that they see what it
/// made. A call that was cancelled is not asked about. Of a body that went to a file or comes as a stream the target sees the head.
public protocol ErrorMappingTarget: TargetType {
    /// The app's error for a response, by its status, header fields or body; `nil`: there is none.
    ///
    /// Each response is asked about, also one whose status the target's validation accepts. One that is turned into an error fails
    /// with stage `.status` when its status is 400 or more, else with stage `.envelope`.
    func appError(for response: Response) -> (any Error)?

    /// The app's error for an exchange that failed; `nil`: there is none.
    func appError(for code: URLError.Code) -> (any Error)?
}

extension ErrorMappingTarget {
    /// None.
    public func appError(for response: Response) -> (any Error)? { nil }

    /// None.
    public func appError(for code: URLError.Code) -> (any Error)? { nil }

    /// The result as this target sees it.
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
