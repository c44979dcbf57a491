// SPDX-License-Identifier: MIT
import Foundation

extension AFError {
    /// A sentence about the failure.
    public var errorDescription: String? {
        switch self {
        case .explicitlyCancelled: "The request was cancelled."
        case .invalidURL(let url): "The URL isn't valid: \(url)"
        case .parameterEncodingFailed(let reason): reason.text
        case .parameterEncoderFailed(let reason): reason.text
        case .multipartEncodingFailed(let reason): reason.text
        case .requestAdaptationFailed(let error): "The request couldn't be adapted: \(error.localizedDescription)"
        case .responseValidationFailed(let reason): reason.text
        case .responseSerializationFailed(let reason): reason.text
        case .requestRetryFailed(let retryError, let originalError):
            "The request couldn't be retried: \(retryError.localizedDescription) "
                + "The original error was: \(originalError.localizedDescription)"
        case .sessionDeinitialized: "The session was released before the request ended."
        case .sessionInvalidated(let error):
            "The session was invalidated\(error.map { ": \($0.localizedDescription)" } ?? ".")"
        case .serverTrustEvaluationFailed(let reason): reason.text
        case .urlRequestValidationFailed: "A GET request can't have a body."
        case .createUploadableFailed(let error):
            "The body of the upload couldn't be created: \(error.localizedDescription)"
        case .createURLRequestFailed(let error): "The request couldn't be created: \(error.localizedDescription)"
        case .downloadedFileMoveFailed(let error, let source, let destination):
            "The file \(source.path) couldn't be moved to \(destination.path): \(error.localizedDescription)"
        // The error's own sentence, because apps show it to their users.
        case .sessionTaskFailed(let error): "URLSessionTask failed with error: \(error.localizedDescription)"
        }
    }
}

extension AFError.ParameterEncodingFailureReason {
    /// The error that caused the failure; `nil` if there is none.
    public var underlyingError: (any Error)? {
        switch self {
        case .missingURL: nil
        case .jsonEncodingFailed(let error), .customEncodingFailed(let error): error
        }
    }

    fileprivate var text: String {
        switch self {
        case .missingURL: "The parameters can't be encoded, because the request has no URL."
        case .jsonEncodingFailed(let error): "JSON couldn't be encoded: \(error.localizedDescription)"
        case .customEncodingFailed(let error): "The parameters couldn't be encoded: \(error.localizedDescription)"
        }
    }
}

extension AFError.ParameterEncoderFailureReason {
    fileprivate var text: String {
        switch self {
        case .missingRequiredComponent(let component): "The request is missing \(component)."
        case .encoderFailed(let error): "The value couldn't be encoded: \(error.localizedDescription)"
        }
    }
}

extension AFError.MultipartEncodingFailureReason {
    /// The file of the part, or the file for the body; `nil` if the failure has none.
    public var url: URL? {
        switch self {
        case .bodyPartURLInvalid(let url), .bodyPartFilenameInvalid(let url), .bodyPartFileNotReachable(let url),
            .bodyPartFileNotReachableWithError(let url, _), .bodyPartFileIsDirectory(let url),
            .bodyPartFileSizeNotAvailable(let url), .bodyPartFileSizeQueryFailedWithError(let url, _),
            .bodyPartInputStreamCreationFailed(let url), .outputStreamCreationFailed(let url),
            .outputStreamFileAlreadyExists(let url), .outputStreamURLInvalid(let url):
            url
        case .outputStreamWriteFailed, .inputStreamReadFailed: nil
        }
    }

    /// The error that caused the failure; `nil` if there is none.
    public var underlyingError: (any Error)? {
        switch self {
        case .bodyPartFileNotReachableWithError(_, let error), .bodyPartFileSizeQueryFailedWithError(_, let error),
            .outputStreamWriteFailed(let error), .inputStreamReadFailed(let error):
            error
        default: nil
        }
    }

    fileprivate var text: String {
        let cause = underlyingError.map { ": \($0.localizedDescription)" } ?? "."
        guard let url else { return "The multipart body couldn't be created\(cause)" }
        return "The multipart body couldn't be created from \(url.path)\(cause)"
    }
}

extension AFError.ResponseValidationFailureReason {
    fileprivate var text: String {
        switch self {
        case .dataFileNil: "The response couldn't be validated, because there is no downloaded file."
        case .dataFileReadFailed(let url): "The response couldn't be validated: \(url.path) can't be read."
        case .missingContentType(let types):
            "The response has no content type; the call accepts \(types.joined(separator: ", "))."
        case .unacceptableContentType(let types, let type):
            "The content type \(type) isn't accepted; the call accepts \(types.joined(separator: ", "))."
        case .unacceptableStatusCode(let code): "Response status code was unacceptable: \(code)."
        case .customValidationFailed(let error): "The response isn't valid: \(error.localizedDescription)"
        }
    }
}

extension AFError.ResponseSerializationFailureReason {
    /// The error that caused the failure; `nil` if there is none.
    public var underlyingError: (any Error)? {
        switch self {
        case .jsonSerializationFailed(let error), .decodingFailed(let error), .customSerializationFailed(let error):
            error
        default: nil
        }
    }

    fileprivate var text: String {
        switch self {
        case .inputDataNilOrZeroLength: "The response has no body."
        case .inputFileNil: "There is no downloaded file."
        case .inputFileReadFailed(let url): "The file \(url.path) can't be read."
        case .stringSerializationFailed(let encoding): "The body isn't text in the encoding \(encoding)."
        case .invalidEmptyResponse(let type): "An empty body isn't a \(type)."
        case .jsonSerializationFailed(let error), .decodingFailed(let error), .customSerializationFailed(let error):
            "The body couldn't be decoded: \(error.localizedDescription)"
        }
    }
}

extension AFError.ServerTrustFailureReason {
    /// The error that caused the failure; `nil` if there is none.
    public var underlyingError: (any Error)? {
        switch self {
        case .trustEvaluationFailed(let error): error
        case .customEvaluationFailed(let error): error
        case .noRequiredEvaluator, .noCertificatesFound, .noPublicKeysFound: nil
        }
    }

    fileprivate var text: String {
        switch self {
        case .noRequiredEvaluator(let host): "The session has no evaluator for the host \(host)."
        case .noCertificatesFound: "There are no certificates to compare with the server's."
        case .noPublicKeysFound: "There are no public keys to compare with the server's."
        case .trustEvaluationFailed(let error):
            "The server isn't trusted\(error.map { ": \($0.localizedDescription)" } ?? ".")"
        case .customEvaluationFailed(let error): "The server isn't trusted: \(error.localizedDescription)"
        }
    }
}
