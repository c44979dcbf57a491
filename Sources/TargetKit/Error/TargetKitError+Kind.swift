// SPDX-License-Identifier: MIT

extension TargetKitError {
    /// What a failure means to the user.
    ///
    /// The cases are in the order of their numbers, ``TargetKitError/errorCode``. A new case is added at the end.
    public enum Kind: Sendable, Hashable, CaseIterable {
        /// A failure of no other kind.
        case unknown
        /// There is no connection to the network, or the app isn't allowed to use it.
        case offline
        /// The request timed out.
        case timedOut
        /// The server couldn't be found or doesn't respond.
        case cannotConnect
        /// The connection was lost, or the response is incomplete or damaged.
        case connectionLost
        /// The TLS handshake failed, or the server's certificate isn't trusted.
        case insecureConnection
        /// The server redirects too many times, or to an invalid URL.
        case badRedirect
        /// The response exceeds the call's size limit.
        case tooLarge
        /// The call was cancelled. Usually not shown to the user.
        case cancelled
        /// Status 401: the request has no valid credentials (RFC 9110 §15.5.2). This includes a body with an accepted
        /// status that reports it (``ServerDefinedError/isUnauthorized``), and failures with another status for which an
        /// authentication plugin ended the session.
        ///
        /// The sentences describe an expired session. A wrong password at sign-in has the same status. For a sign-in
        /// target, show the server's message, or use an ``ErrorMappingTarget``.
        case unauthorized
        /// Status 403: the credentials don't permit the request (RFC 9110 §15.5.4).
        case forbidden
        /// Status 404 or 410: the resource doesn't exist.
        case notFound
        /// Status 409 or 412: the resource changed or already exists.
        case conflict
        /// Status 429: too many requests (RFC 6585 §4).
        case rateLimited
        /// Another status of 400–499: the server doesn't accept the request.
        case client
        /// A status of 500–599: the server failed. This includes calls that a plugin doesn't send because the server is
        /// failing.
        case server
        /// A status outside 400–599 that the target doesn't accept.
        case unexpectedStatus
        /// The body isn't in the expected format.
        case decoding
        /// The body of a response with an accepted status reports a failure. If the status isn't accepted, the status
        /// determines the kind.
        case rejected
        /// The request couldn't be created because of a programming error.
        case invalidRequest
        /// The scope is shut down and accepts no new calls.
        case shutDown
        /// A file to upload doesn't exist or can't be read.
        case unreadableFile
        /// There is no space left to write a file.
        case storageFull
        /// The call may only use a stored response, and there is none.
        case notCached
    }

    /// The meaning of the failure for the user.
    ///
    /// Determined by the ``stage``, by the status code if the target doesn't accept it (``rejectedStatusCode``), and
    /// otherwise by the ``underlying`` error. If an authentication plugin ended the session, it is `.unauthorized`.
    public var kind: Kind {
        switch stage {
        case .endpoint: .invalidRequest
        case .request: underlying.flatMap(Kind.init(_:)) ?? .invalidRequest
        case .transport: underlying.flatMap(Kind.init(_:)) ?? .unknown
        case .cancelled: .cancelled
        case .status where isMarked(.endedSession), .envelope where isMarked(.endedSession): .unauthorized
        case .status, .envelope:
            rejectedStatusCode.map(Kind.init(statusCode:)) ?? underlying.flatMap(Kind.init(_:))
                ?? (stage == .status ? .unexpectedStatus : .rejected)
        case .decoding: .decoding
        case .shutDown: .shutDown
        }
    }
}

extension TargetKitError.Kind {
    /// The kind of an underlying error; `nil` if the error determines none.
    fileprivate init?(_ error: any Error) {
        switch error {
        case let error as URLError where error.userInfo[FailureMark.notCached] != nil: self = .notCached
        case let error as URLError: self.init(error.code)
        case let error as ServerDefinedError:
            guard error.isUnauthorized else { return nil }
            self = .unauthorized
        case InvalidRequest.unreadableFile: self = .unreadableFile
        case is CredentialError: self = .unauthorized
        case let error as any ErrorWithKind:
            guard let kind = error.kind else { return nil }
            self = kind
        default:
            let error = error as NSError
            switch (error.domain, error.code) {
            case (NSPOSIXErrorDomain, Int(ENOSPC)), (NSPOSIXErrorDomain, Int(EDQUOT)),
                (NSCocoaErrorDomain, CocoaError.fileWriteOutOfSpace.rawValue):
                self = .storageFull
            default: return nil
            }
        }
    }

    init(statusCode: Int) {
        self =
            switch statusCode {
            case 401: .unauthorized
            case 403: .forbidden
            case 404, 410: .notFound
            case 409, 412: .conflict
            case 429: .rateLimited
            case 400...499: .client
            case 500...599: .server
            default: .unexpectedStatus
            }
    }

    init(_ code: URLError.Code) {
        self =
            switch code {
            case .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff, .callIsActive: .offline
            case .timedOut: .timedOut
            case .cannotConnectToHost, .cannotFindHost, .dnsLookupFailed: .cannotConnect
            case .networkConnectionLost, .badServerResponse, .cannotParseResponse, .cannotDecodeContentData,
                .zeroByteResource:
                .connectionLost
            case .cannotDecodeRawData: .decoding
            case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
                .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
                .clientCertificateRequired, .appTransportSecurityRequiresSecureConnection:
                .insecureConnection
            case .httpTooManyRedirects, .redirectToNonExistentLocation: .badRedirect
            case .dataLengthExceedsMaximum: .tooLarge
            case .cancelled, .userCancelledAuthentication: .cancelled
            case .userAuthenticationRequired: .unauthorized
            case .badURL, .unsupportedURL: .invalidRequest
            case .fileDoesNotExist, .noPermissionsToReadFile, .fileIsDirectory, .cannotOpenFile: .unreadableFile
            case .cannotWriteToFile: .storageFull
            default: .unknown
            }
    }
}

/// An underlying error that determines the ``TargetKitError/kind`` of a failure.
package protocol ErrorWithKind: Error {
    /// The kind; `nil` if the error determines none.
    var kind: TargetKitError.Kind? { get }

    /// The status code that selects among the sentences of the kind. Default: `nil`.
    var statusCode: Int? { get }
}

extension ErrorWithKind {
    package var statusCode: Int? { nil }
}
