// SPDX-License-Identifier: MIT

extension Error {
    /// The error in one line. Only errors whose texts contain no values of the caller are shown in full.
    package var redactedLine: String {
        let text =
            switch self {
            // Errors of the package. The `errorDescription` of some of them is for the user.
            case let error as any ReflectsDescription: error.description
            case let error as URLError: "\(error.words) (URLError \(error.code.rawValue))"
            case let error as DecodingError: DecodingDescription(error).description
            case let error as EncodingError: error.words
            case is CancellationError: "cancelled"
            case let error as any LocalizedError: error.errorDescription ?? nameOfCase
            default: nameOfCase
            }
        return RedactedURL.inside(text).split(whereSeparator: \.isNewline).joined(separator: " ").inOneLine
    }

    /// The type and, for an enum, the case, without associated values, which may be secrets.
    private var nameOfCase: String {
        let type = String(describing: type(of: self))
        let mirror = Mirror(reflecting: self)
        guard mirror.displayStyle == .enum else { return type }
        return "\(type).\(mirror.children.first?.label ?? "\(self)")"
    }
}

extension URLError {
    /// What failed. The error's own text may quote the server's response.
    fileprivate var words: String { userInfo[FailureMark.words] as? String ?? code.words }
}

extension URLError.Code {
    fileprivate var words: String {
        switch self {
        case .notConnectedToInternet: "the device is offline"
        case .dataNotAllowed: "the call isn't allowed to use the device's network"
        case .timedOut: "the request timed out"
        case .cannotFindHost, .dnsLookupFailed: "the host couldn't be found"
        case .cannotConnectToHost: "the connection was refused"
        case .networkConnectionLost: "the connection was lost"
        case .badServerResponse, .cannotParseResponse: "the response isn't valid HTTP"
        case .cannotDecodeContentData, .cannotDecodeRawData: "the body's content coding is invalid"
        case .dataLengthExceedsMaximum: "the response is larger than the call allows"
        case .httpTooManyRedirects: "the server redirects too many times"
        case .redirectToNonExistentLocation: "the server redirects to a URL that isn't HTTP or HTTPS"
        case .appTransportSecurityRequiresSecureConnection: "the connection would be insecure"
        case .secureConnectionFailed: "the TLS handshake failed"
        case .serverCertificateUntrusted, .serverCertificateHasUnknownRoot:
            "the server's certificate isn't trusted"
        case .serverCertificateHasBadDate, .serverCertificateNotYetValid: "the server's certificate is out of date"
        case .clientCertificateRequired, .clientCertificateRejected:
            "the server requires a different client certificate"
        case .resourceUnavailable: "the resource isn't available"
        case .cancelled: "cancelled"
        case .badURL, .unsupportedURL: "the transport doesn't support this URL"
        case .fileDoesNotExist, .noPermissionsToReadFile, .fileIsDirectory: "the file can't be read"
        case .cannotOpenFile: "the file can't be opened"
        case .cannotWriteToFile: "the file can't be written; check the free disk space"
        case .cannotCreateFile, .cannotMoveFile: "the file can't be written"
        default: "the exchange failed"
        }
    }
}

extension EncodingError {
    fileprivate var words: String {
        switch self {
        case .invalidValue(let value, let context):
            "a \((value as? HiddenValue)?.type ?? type(of: value)) that can't be encoded at \(CodingKeyPath(context.codingPath))"
        @unknown default: "not encodable"
        }
    }
}
