// SPDX-License-Identifier: MIT
#if os(Linux)
import CTargetKitCurl

/// The failures of ``CurlTransport``.
extension TransportFailure {
    static let unavailable = quotable(.resourceUnavailable, "the system has no file descriptors for a CurlTransport")
    static let headCutOff = Self(
        .networkConnectionLost,
        message: "the connection was closed before the response's head was complete"
    )
    /// `CURLE_TOO_LARGE`, which libcurl returns since 8.6 when a size exceeds its limit.
    static let tooLarge = CURLcode(rawValue: 100)

    static let malformedLength = quotable(.cannotParseResponse, "the response's Content-Length is invalid or ambiguous")
    static let leadingFold = quotable(.badServerResponse, "the response's first header field begins with a space")
    static let noDescriptors = quotable(
        .resourceUnavailable,
        "the system has no file descriptor for a connection; raise the limit, or close unused files"
    )

    /// No byte was sent or received within the limit.
    static func idle(_ limit: Duration) -> Self {
        quotable(
            .timedOut,
            "the request timed out: no data was sent or received for \(limit); "
                + #"set \.timeout, or a longer idleTimeout of CurlTransport"#
        )
    }

    /// No connection was opened within the limit.
    static func unconnected(_ limit: Duration) -> Self {
        quotable(
            .timedOut,
            "the request timed out: no connection was opened within \(limit); check the host and the port, or "
                + "set a longer connectTimeout of CurlTransport"
        )
    }

    /// The response head exceeds the limit in bytes; `nil` for libcurl's own limit.
    static func headTooLarge(_ limit: Int?) -> Self {
        let size = limit.map { "\($0) bytes of CurlTransport's maxHeadSize" } ?? "libcurl"
        return quotable(.dataLengthExceedsMaximum, "the heads and trailers of the response exceed the limit of \(size)")
    }

    static func refusedTunnel(_ status: Int) -> Self {
        let reason = status == 401 || status == 407 ? "; check its user name and password" : ""
        return quotable(
            .cannotConnectToHost,
            "the proxy refused the connection to the host with status \(status)\(reason)"
        )
    }

    static let bodyCutOff = quotable(
        .networkConnectionLost,
        "the connection was closed because of an invalid frame, before the end of the response"
    )
    static let cutShort = quotable(.networkConnectionLost, "the connection ended before the whole request was sent")
    static let notRepeated = quotable(
        .networkConnectionLost,
        "the connection was closed before a response arrived, and the request isn't safe to retry"
    )

    static let refused = quotable(
        .networkConnectionLost,
        "the server refused the request several times without processing it"
    )

    static func lineBreak(in name: String) -> Self {
        Self(
            .badURL,
            message: "the header field \(name.debugDescription) contains a line break or a NUL, or has no name"
        )
    }
}

extension TransportFailure {
    /// Adds libcurl's message and result code to the error.
    mutating func note(_ result: CURLcode, _ text: String) {
        info[CurlTransport.messageKey] = text
        info[CurlTransport.codeKey] = Int(result.rawValue)
    }

    /// The code for a result code; `verification` is OpenSSL's result for the certificate, `osError` the socket's `errno`.
    static func code(_ result: CURLcode, text: String, verification: Int, osError: Int32) -> URLError.Code {
        switch result {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: .cannotFindHost
        case CURLE_COULDNT_CONNECT: isOffline(osError) ? .notConnectedToInternet : .cannotConnectToHost
        case CURLE_OPERATION_TIMEDOUT: .timedOut
        case CURLE_URL_MALFORMAT: .badURL
        // The response doesn't start like HTTP; the URL's scheme is already checked.
        case CURLE_UNSUPPORTED_PROTOCOL: .badServerResponse
        // libcurl 7.83 and later can't divide a line of the head into name and value.
        case CURLE_BAD_FUNCTION_ARGUMENT: .badServerResponse
        case CURLE_WEIRD_SERVER_REPLY: text.contains("Content-Length") ? .cannotParseResponse : .badServerResponse
        case CURLE_BAD_CONTENT_ENCODING, CURLE_WRITE_ERROR: .cannotDecodeContentData
        case CURLE_PROXY: .cannotConnectToHost
        case CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE, CURLE_SEND_ERROR, CURLE_HTTP2, CURLE_HTTP2_STREAM:
            .networkConnectionLost
        case CURLE_RECV_ERROR: isMalformed(text) ? .cannotParseResponse : .networkConnectionLost
        case CURLE_SEND_FAIL_REWIND, CURLE_READ_ERROR: .requestBodyStreamExhausted
        case CURLE_PEER_FAILED_VERIFICATION: certificateCode(verification)
        case CURLE_SSL_CERTPROBLEM: .clientCertificateRejected
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR,
            CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_ENGINE_INITFAILED:
            .secureConnectionFailed
        case CURLE_SSL_PINNEDPUBKEYNOTMATCH: .serverCertificateUntrusted
        default: .unknown
        }
    }

    private static func isOffline(_ osError: Int32) -> Bool {
        osError == ENETUNREACH || osError == ENETDOWN
    }

    /// libcurl reports an invalid chunk with the code of a lost connection; only the message differs.
    private static func isMalformed(_ text: String) -> Bool {
        ["chunk", "hexadecimal", "header", "transfer encoding"].contains { text.lowercased().contains($0) }
    }

    /// OpenSSL's `X509_V_ERR_…`: 9 not yet valid, 10 expired, 2 and 18 to 21 unknown root.
    private static func certificateCode(_ verification: Int) -> URLError.Code {
        switch verification {
        case 9: .serverCertificateNotYetValid
        case 10: .serverCertificateHasBadDate
        case 2, 18...21: .serverCertificateHasUnknownRoot
        default: .serverCertificateUntrusted
        }
    }
}
#endif
