// SPDX-License-Identifier: MIT

import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension TargetKitError {
    /// What a failed call means to the person in front of the screen.
    public enum Kind: Sendable, Hashable, CaseIterable {
        /// There is no connection to the network.
        case offline
        /// The exchange took longer than it may.
        case timedOut
        /// The server could not be found or does not answer.
        case cannotConnect
        /// The connection broke, or the response is cut short or garbled.
        case connectionLost
        /// TLS could not be agreed, or the server's certificate is not trusted.
        case insecureConnection
        /// The server sends the call in circles, or to nowhere.
        case badRedirect
        /// The response is larger than the call allows.
        case tooLarge
        /// The call was cancelled.
        case cancelled
        /// Status 401: who is calling is not known (RFC 9110 §15.5.2).
        case unauthorized
        /// Status 403: who is calling may not (RFC 9110 §15.5.4).
        case forbidden
        /// Status 404 or 410: there is no such thing.
        case notFound
        /// Status 409 or 412: somebody else has changed it.
        case conflict
        /// Status 429: too many calls (RFC 6585 §4).
        case rateLimited
        /// Another status of 400–499: the server does not accept the call.
        case client
        /// A status of 500–599: the server failed.
        case server
        /// A status outside 400–599 that the target does not accept.
        case unexpectedStatus
        /// The body is not what was asked for.
        case decoding
        /// The body says that the call failed.
        case rejected
        /// The call could not be made from what was given: a mistake of the program.
        case invalidRequest
        /// The scope takes no new calls.
        case shutDown
        /// None of these.
        case unknown
    }

    /// What the failure means to the person in front of the screen.
    ///
    /// The stage decides first; for `.status` the status code, for `.transport` the code of the underlying `URLError`. A plugin
    /// that refuses a call may say the kind by its error.
    public var kind: Kind {
        switch stage {
        case .endpoint: .invalidRequest
        case .request: underlying.flatMap(Kind.init(saidBy:)) ?? .invalidRequest
        case .transport: underlying.flatMap(Kind.init(saidBy:)) ?? .unknown
        case .cancelled: .cancelled
        case .status: response.map { Kind(statusCode: $0.statusCode) } ?? .unexpectedStatus
        case .decoding: .decoding
        case .envelope: .rejected
        case .shutDown: .shutDown
        }
    }
}

extension TargetKitError.Kind {
    /// `nil` for an error that does not say.
    fileprivate init?(saidBy error: any Error) {
        switch error {
        case let error as URLError: self.init(error.code)
        case let error as any FailureOfKind: self = error.kind
        default: return nil
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

    init(_ code: URLError.Code) {
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
            case .badURL, .unsupportedURL, .fileDoesNotExist, .noPermissionsToReadFile, .fileIsDirectory:
                .invalidRequest
            default: .unknown
            }
    }
}

/// Where the `userInfo` of a `URLError` has what only the library knows of the failure; for plugins that judge servers.
package enum FailureMark {
    /// How many redirects had been followed, an `Int` above 0: the server that was asked has answered.
    package static let redirects = "TargetKit.redirects"
    /// That the time for the whole call was over, `true`. The caller has set it, so it says nothing about the server.
    package static let wholeCall = "TargetKit.wholeCall"
}

/// An error that knows what it means to the person in front of the screen: of a plugin that refuses a call for a reason which is
/// no mistake of the program.
package protocol FailureOfKind: Error {
    /// What ``TargetKitError/kind`` says when this is the underlying error.
    var kind: TargetKitError.Kind { get }
}

/// An error whose text is for the developer; the person reads the sentences of its kind instead.
package protocol DeveloperError: Error {}
