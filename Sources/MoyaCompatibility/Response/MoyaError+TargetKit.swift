// SPDX-License-Identifier: MIT
import TargetKit

extension Result<TargetKit.Response, TargetKitError> {
    /// The result that Moya's callers and plugins receive.
    var moyaResult: Result<Response, MoyaError> {
        switch self {
        case .success(let response): .success(Response(response))
        case .failure(let error): .failure(MoyaError(error))
        }
    }
}

extension Response {
    convenience init(_ response: TargetKit.Response) {
        self.init(
            statusCode: response.statusCode,
            data: response.data,
            request: response.request,
            response: response.httpResponse
        )
    }
}

extension MoyaError {
    init(_ error: TargetKitError) {
        if let known = error.appError as? MoyaError ?? error.underlying as? MoyaError {
            self = known
        } else {
            self = .underlying(error.afError, error.stage == .cancelled ? nil : error.response.map(Response.init))
        }
    }
}

extension TargetKitError {
    /// The corresponding Alamofire error.
    var afError: AFError {
        if stage == .cancelled { return .explicitlyCancelled }
        if let error = underlying?.asAFError { return error }
        let cause: any Error = underlying ?? self
        if let code = rejectedStatusCode {
            return .responseValidationFailed(reason: .unacceptableStatusCode(code: code))
        }
        switch stage {
        case .status:
            return .responseValidationFailed(reason: .unacceptableStatusCode(code: response?.statusCode ?? 0))
        case .transport:
            if let error = underlying as? MultipartError { return error.afError }
            return trustError ?? .sessionTaskFailed(error: cause)
        case .endpoint, .request:
            return requestError(cause)
        case .decoding, .envelope:
            return .responseSerializationFailed(reason: .customSerializationFailed(error: cause))
        case .shutDown, .cancelled:
            return .sessionInvalidated(error: cause)
        }
    }

    /// The error if the session's manager doesn't trust the server.
    private var trustError: AFError? {
        ((underlying as? URLError)?.userInfo[NSUnderlyingErrorKey] as? UntrustedServer)?.error
    }

    private func requestError(_ cause: any Error) -> AFError {
        switch cause {
        case let error as MultipartError:
            error.afError
        case InvalidRequest.bodyNotAllowed(method: "GET"):
            .urlRequestValidationFailed(reason: .bodyDataInGETRequest(request?.httpBody ?? Data()))
        case InvalidRequest.unreadableFile:
            .createUploadableFailed(error: cause)
        case is URLError:
            .sessionTaskFailed(error: cause)
        default:
            .createURLRequestFailed(error: cause)
        }
    }
}

extension MultipartError {
    fileprivate var afError: AFError {
        if let path = filePath {
            let url = URL(fileURLWithPath: path)
            return .multipartEncodingFailed(reason: .bodyPartFileNotReachableWithError(atURL: url, error: self))
        }
        return .multipartEncodingFailed(reason: .inputStreamReadFailed(error: self))
    }
}

extension Endpoint {
    /// Checks that a form can be sent.
    ///
    /// - Throws: ``NotMultipartError``.
    func checkParts() throws {
        guard let parts = task.parts else { return }
        if parts.isEmpty || !method.supportsMultipart { throw NotMultipartError(method: method.rawValue) }
    }
}

/// An error for a form upload without parts, or with a method that has no body.
struct NotMultipartError: LocalizedError {
    let method: String

    var errorDescription: String? {
        "The request isn't a multipart upload. Add a part, and use POST, PUT, PATCH or CONNECT instead of \(method)."
    }
}
