// SPDX-License-Identifier: MIT
import Foundation

/// The failure of a request below Moya, with the cases of Alamofire 5.
///
/// It is the error in ``MoyaError/underlying(_:_:)``: ``sessionTaskFailed(error:)`` with a `URLError` if there is no
/// response, ``responseValidationFailed(reason:)`` for a status code that the target doesn't accept, and
/// ``explicitlyCancelled`` after ``Cancellable/cancel()``.
public enum AFError: LocalizedError {
    /// The reason why a multipart body couldn't be created.
    public enum MultipartEncodingFailureReason: Sendable {
        /// The URL isn't a file URL.
        case bodyPartURLInvalid(url: URL)
        /// The URL has no file name.
        case bodyPartFilenameInvalid(in: URL)
        /// The file doesn't exist.
        case bodyPartFileNotReachable(at: URL)
        /// The system can't read the file.
        case bodyPartFileNotReachableWithError(atURL: URL, error: any Error)
        /// The URL refers to a folder.
        case bodyPartFileIsDirectory(at: URL)
        /// The size of the file is unknown.
        case bodyPartFileSizeNotAvailable(at: URL)
        /// The system can't read the size of the file.
        case bodyPartFileSizeQueryFailedWithError(forURL: URL, error: any Error)
        /// The file can't be opened.
        case bodyPartInputStreamCreationFailed(for: URL)
        /// The file for the body can't be created.
        case outputStreamCreationFailed(for: URL)
        /// The file for the body exists.
        case outputStreamFileAlreadyExists(at: URL)
        /// The URL for the body isn't a file URL.
        case outputStreamURLInvalid(url: URL)
        /// Writing the body failed.
        case outputStreamWriteFailed(error: any Error)
        /// Reading a part failed.
        case inputStreamReadFailed(error: any Error)
    }

    /// The reason why parameters couldn't be encoded.
    public enum ParameterEncodingFailureReason: Sendable {
        /// The request has no URL.
        case missingURL
        /// The parameters aren't JSON values.
        case jsonEncodingFailed(error: any Error)
        /// An encoding of the app failed.
        case customEncodingFailed(error: any Error)
    }

    /// The reason why an `Encodable` value couldn't be encoded.
    public enum ParameterEncoderFailureReason: Sendable {
        /// A part of the request that the encoder needs.
        public enum RequiredComponent: Sendable {
            /// The URL.
            case url
            /// The method.
            case httpMethod(rawValue: String)
        }

        /// The request lacks a part.
        case missingRequiredComponent(RequiredComponent)
        /// The encoder failed.
        case encoderFailed(error: any Error)
    }

    /// The reason why a response wasn't accepted.
    public enum ResponseValidationFailureReason: Sendable {
        /// The downloaded file doesn't exist.
        case dataFileNil
        /// The downloaded file can't be read.
        case dataFileReadFailed(at: URL)
        /// The response has no content type.
        case missingContentType(acceptableContentTypes: [String])
        /// The response has another content type.
        case unacceptableContentType(acceptableContentTypes: [String], responseContentType: String)
        /// The response has a status code that the target doesn't accept.
        case unacceptableStatusCode(code: Int)
        /// A validation of the app failed.
        case customValidationFailed(error: any Error)
    }

    /// The reason why a response couldn't be decoded.
    public enum ResponseSerializationFailureReason: Sendable {
        /// The response has no body.
        case inputDataNilOrZeroLength
        /// The downloaded file doesn't exist.
        case inputFileNil
        /// The downloaded file can't be read.
        case inputFileReadFailed(at: URL)
        /// The body isn't text of the encoding.
        case stringSerializationFailed(encoding: String.Encoding)
        /// The body isn't JSON.
        case jsonSerializationFailed(error: any Error)
        /// The body couldn't be decoded.
        case decodingFailed(error: any Error)
        /// A serializer of the app failed.
        case customSerializationFailed(error: any Error)
        /// The type has no empty value.
        case invalidEmptyResponse(type: String)
    }

    /// The reason why a server wasn't trusted.
    public enum ServerTrustFailureReason: Sendable {
        /// The session's manager has no evaluator for the host.
        case noRequiredEvaluator(host: String)
        /// There are no certificates to compare with.
        case noCertificatesFound
        /// There are no public keys to compare with.
        case noPublicKeysFound
        /// The system doesn't trust the server.
        case trustEvaluationFailed(error: (any Error)?)
        /// An evaluator of the app can't be used or failed.
        case customEvaluationFailed(error: any Error)
    }

    /// The reason why a request can't be sent.
    public enum URLRequestValidationFailureReason: Sendable {
        /// A GET has a body.
        case bodyDataInGETRequest(Data)
    }

    /// The body of an upload couldn't be created.
    case createUploadableFailed(error: any Error)
    /// The request couldn't be created.
    case createURLRequestFailed(error: any Error)
    /// A downloaded file couldn't be moved to its destination.
    case downloadedFileMoveFailed(error: any Error, source: URL, destination: URL)
    /// The request was cancelled.
    case explicitlyCancelled
    /// The value isn't a URL.
    case invalidURL(url: any URLConvertible)
    /// A multipart body couldn't be created.
    case multipartEncodingFailed(reason: MultipartEncodingFailureReason)
    /// Parameters couldn't be encoded.
    case parameterEncodingFailed(reason: ParameterEncodingFailureReason)
    /// An `Encodable` value couldn't be encoded.
    case parameterEncoderFailed(reason: ParameterEncoderFailureReason)
    /// A ``RequestAdapter`` failed.
    case requestAdaptationFailed(error: any Error)
    /// A ``RequestRetrier`` failed.
    case requestRetryFailed(retryError: any Error, originalError: any Error)
    /// The response wasn't accepted.
    case responseValidationFailed(reason: ResponseValidationFailureReason)
    /// The response couldn't be decoded.
    case responseSerializationFailed(reason: ResponseSerializationFailureReason)
    /// The server wasn't trusted.
    case serverTrustEvaluationFailed(reason: ServerTrustFailureReason)
    /// The session was released.
    case sessionDeinitialized
    /// The session was invalidated.
    case sessionInvalidated(error: (any Error)?)
    /// There is no response, or it is incomplete. The error is a `URLError`.
    case sessionTaskFailed(error: any Error)
    /// The request can't be sent.
    case urlRequestValidationFailed(reason: URLRequestValidationFailureReason)
}

extension Error {
    /// This error as an `AFError`; `nil` if it is another one.
    public var asAFError: AFError? { self as? AFError }

    /// This error as an `AFError`, or else the given error.
    func asAFError(or defaultError: @autoclosure () -> AFError) -> AFError { asAFError ?? defaultError() }
}

extension AFError {
    /// Whether the session was released.
    public var isSessionDeinitializedError: Bool { if case .sessionDeinitialized = self { true } else { false } }
    /// Whether the session was invalidated.
    public var isSessionInvalidatedError: Bool { if case .sessionInvalidated = self { true } else { false } }
    /// Whether the request was cancelled.
    public var isExplicitlyCancelledError: Bool { if case .explicitlyCancelled = self { true } else { false } }
    /// Whether a value wasn't a URL.
    public var isInvalidURLError: Bool { if case .invalidURL = self { true } else { false } }
    /// Whether parameters couldn't be encoded.
    public var isParameterEncodingError: Bool { if case .parameterEncodingFailed = self { true } else { false } }
    /// Whether an `Encodable` value couldn't be encoded.
    public var isParameterEncoderError: Bool { if case .parameterEncoderFailed = self { true } else { false } }
    /// Whether a multipart body couldn't be created.
    public var isMultipartEncodingError: Bool { if case .multipartEncodingFailed = self { true } else { false } }
    /// Whether an adapter failed.
    public var isRequestAdaptationError: Bool { if case .requestAdaptationFailed = self { true } else { false } }
    /// Whether the response wasn't accepted.
    public var isResponseValidationError: Bool { if case .responseValidationFailed = self { true } else { false } }
    /// Whether the response couldn't be decoded.
    public var isResponseSerializationError: Bool {
        if case .responseSerializationFailed = self { true } else { false }
    }
    /// Whether the server wasn't trusted.
    public var isServerTrustEvaluationError: Bool {
        if case .serverTrustEvaluationFailed = self { true } else { false }
    }
    /// Whether a retrier failed.
    public var isRequestRetryError: Bool { if case .requestRetryFailed = self { true } else { false } }
    /// Whether the body of an upload couldn't be created.
    public var isCreateUploadableError: Bool { if case .createUploadableFailed = self { true } else { false } }
    /// Whether the request couldn't be created.
    public var isCreateURLRequestError: Bool { if case .createURLRequestFailed = self { true } else { false } }
    /// Whether a downloaded file couldn't be moved.
    public var isDownloadedFileMoveError: Bool { if case .downloadedFileMoveFailed = self { true } else { false } }
    /// Whether there is no response, or it is incomplete.
    public var isSessionTaskError: Bool { if case .sessionTaskFailed = self { true } else { false } }
}

extension AFError {
    /// The value that wasn't a URL; `nil` for other errors.
    public var urlConvertible: (any URLConvertible)? { if case .invalidURL(let url) = self { url } else { nil } }

    /// The file of a multipart body that couldn't be created; `nil` for other errors.
    public var url: URL? {
        guard case .multipartEncodingFailed(let reason) = self else { return nil }
        return reason.url
    }

    /// The error that caused this one; `nil` if there is none.
    public var underlyingError: (any Error)? {
        switch self {
        case .multipartEncodingFailed(let reason): reason.underlyingError
        case .parameterEncodingFailed(let reason): reason.underlyingError
        case .parameterEncoderFailed(.encoderFailed(let error)): error
        case .requestAdaptationFailed(let error): error
        case .requestRetryFailed(let retryError, _): retryError
        case .responseValidationFailed(.customValidationFailed(let error)): error
        case .responseSerializationFailed(let reason): reason.underlyingError
        case .serverTrustEvaluationFailed(let reason): reason.underlyingError
        case .sessionInvalidated(let error): error
        case .createUploadableFailed(let error): error
        case .createURLRequestFailed(let error): error
        case .downloadedFileMoveFailed(let error, _, _): error
        case .sessionTaskFailed(let error): error
        case .parameterEncoderFailed, .responseValidationFailed, .explicitlyCancelled, .invalidURL,
            .sessionDeinitialized, .urlRequestValidationFailed:
            nil
        }
    }

    /// The content types that a response could have; `nil` for other errors.
    public var acceptableContentTypes: [String]? {
        switch self {
        case .responseValidationFailed(.missingContentType(let types)): types
        case .responseValidationFailed(.unacceptableContentType(let types, _)): types
        default: nil
        }
    }

    /// The content type of a response that wasn't accepted; `nil` for other errors.
    public var responseContentType: String? {
        guard case .responseValidationFailed(.unacceptableContentType(_, let type)) = self else { return nil }
        return type
    }

    /// The status code of a response that wasn't accepted; `nil` for other errors.
    public var responseCode: Int? {
        guard case .responseValidationFailed(.unacceptableStatusCode(let code)) = self else { return nil }
        return code
    }

    /// The encoding that the body didn't have; `nil` for other errors.
    public var failedStringEncoding: String.Encoding? {
        guard case .responseSerializationFailed(.stringSerializationFailed(let encoding)) = self else { return nil }
        return encoding
    }

    /// The downloaded file that couldn't be moved; `nil` for other errors.
    public var sourceURL: URL? {
        if case .downloadedFileMoveFailed(_, let source, _) = self { source } else { nil }
    }

    /// The destination to which a downloaded file couldn't be moved; `nil` for other errors.
    public var destinationURL: URL? {
        if case .downloadedFileMoveFailed(_, _, let destination) = self { destination } else { nil }
    }
}
