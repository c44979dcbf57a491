// SPDX-License-Identifier: MIT

import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension TargetKitError {
    /// What a failure means to the person who uses the app.
    public enum Kind: Sendable, Hashable, CaseIterable {
        /// There is no connection to the network, or the app is not allowed to use it.
        case offline
        /// The request timed out.
        case timedOut
        /// The server could not be found or does not respond.
        case cannotConnect
        /// The connection was lost, or the response is incomplete or damaged.
        case connectionLost
        /// The TLS handshake failed, or the server's certificate is not trusted.
        case insecureConnection
        /// The server redirects too many times, or to an invalid URL.
        case badRedirect
        /// The response exceeds the size that the call allows.
        case tooLarge
        /// The call was cancelled. This is usually not shown: `case .cancelled: break`.
        case cancelled
        /// Status 401: the request has no valid credentials (RFC 9110 §15.5.2).
        ///
        /// The sentences are about a session that has expired. The response to a wrong password at sign-in has this
        /// status, too: show the server's message, or give the sign-in target an ``ErrorMappingTarget``.
        case unauthorized
        /// Status 403: the credentials do not permit the request (RFC 9110 §15.5.4).
        case forbidden
        /// Status 404 or 410: there is no such resource.
        case notFound
        /// Status 409 or 412: the resource has changed, or exists already.
        case conflict
        /// Status 429: too many requests (RFC 6585 §4).
        case rateLimited
        /// Another status of 400–499: the server does not accept the request.
        case client
        /// A status of 500–599: the server failed. Also a call that a plugin did not send to a server that fails.
        case server
        /// A status outside 400–599 that the target does not accept.
        case unexpectedStatus
        /// The body is not in the expected format.
        case decoding
        /// The body reports a failure.
        case rejected
        /// The request could not be made: a mistake in the program.
        case invalidRequest
        /// A file to upload does not exist or cannot be read.
        case unreadableFile
        /// There is no space left to write a file.
        case storageFull
        /// The scope has been shut down and accepts no new calls.
        case shutDown
        /// Another failure.
        case unknown
    }

    /// What the failure means to the person who uses the app.
    ///
    /// The ``stage`` determines it; at stage `.status`, so does the status code, and at the stages `.request` and
    /// `.transport` the ``underlying`` error.
    public var kind: Kind {
        switch stage {
        case .endpoint: .invalidRequest
        case .request: underlying.flatMap(Kind.init(_:)) ?? .invalidRequest
        case .transport: underlying.flatMap(Kind.init(_:)) ?? .unknown
        case .cancelled: .cancelled
        case .status:
            response.map { Kind(statusCode: $0.statusCode) } ?? underlying.flatMap(Kind.init(_:)) ?? .unexpectedStatus
        case .decoding: .decoding
        case .envelope: .rejected
        case .shutDown: .shutDown
        }
    }
}

extension TargetKitError.Kind {
    /// The kind of an underlying error; `nil` if the error determines none.
    fileprivate init?(_ error: any Error) {
        switch error {
        case let error as URLError: self.init(error.code)
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

    package init(statusCode: Int) {
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

    package init(_ code: URLError.Code) {
        self =
            switch code {
            case .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff, .callIsActive: .offline
            case .timedOut: .timedOut
            case .cannotConnectToHost, .cannotFindHost, .dnsLookupFailed: .cannotConnect
            case .networkConnectionLost, .badServerResponse, .cannotParseResponse, .cannotDecodeContentData,
                .cannotDecodeRawData, .zeroByteResource:
                .connectionLost
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

/// Keys of the `userInfo` of a `URLError`, for facts that only the library knows.
package enum FailureMark {
    /// The number of redirects that had been followed, an `Int` above 0: the first server has responded.
    package static let redirects = "TargetKit.redirects"
    /// `true` if the timeout of the whole call was exceeded. The caller sets it, so it says nothing about the server.
    package static let wholeCall = "TargetKit.wholeCall"
    /// `true` if the transport cannot stream a response. Nothing was sent.
    package static let cannotStream = "TargetKit.cannotStream"
    /// A sentence written by TargetKit, a `String` without quoted content.
    package static let words = "TargetKitWords"
}

/// An error that determines the ``TargetKitError/kind`` of a failure that it underlies.
package protocol ErrorWithKind: Error {
    /// The kind; `nil` if the error determines none.
    var kind: TargetKitError.Kind? { get }

    /// The status code that selects among the sentences of the kind. Default: `nil`.
    var statusCode: Int? { get }
}

extension ErrorWithKind {
    package var statusCode: Int? { nil }
}
