// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// An underlying error in one line. Only errors whose texts are known to contain no values of the caller are shown in
/// full.
package struct ErrorDescription: CustomStringConvertible {
    package let description: String

    package init(_ error: any Error) {
        let text =
            switch error {
            // Written by the package. The `errorDescription` of some is for the person who uses the app.
            case let error as any ReflectsDescription: error.description
            case let error as URLError: Self.text(of: error)
            case let error as DecodingError: Self.text(of: error)
            case let error as EncodingError: Self.text(of: error)
            case is CancellationError: "cancelled"
            case let error as any LocalizedError: error.errorDescription ?? Self.name(of: error)
            default: Self.name(of: error)
            }
        description = RedactedURL.inside(text).split(whereSeparator: \.isNewline).joined(separator: " ").inOneLine
    }

    /// Words of our own: those in the error may quote what the server has sent.
    private static func text(of error: URLError) -> String {
        if let words = error.userInfo[FailureMark.words] as? String {
            return "\(words) (URLError \(error.code.rawValue))"
        }
        let words =
            switch error.code {
            case .notConnectedToInternet: "there is no connection to the network"
            case .dataNotAllowed: "the call may not use the network of the device"
            case .timedOut: "the request timed out"
            case .cannotFindHost, .dnsLookupFailed: "the host could not be found"
            case .cannotConnectToHost: "the connection was refused"
            case .networkConnectionLost: "the connection was lost"
            case .badServerResponse, .cannotParseResponse: "the response is not valid HTTP"
            case .cannotDecodeContentData, .cannotDecodeRawData: "the body's content coding is invalid"
            case .dataLengthExceedsMaximum: "the response is larger than the call allows"
            case .httpTooManyRedirects: "the server redirects too many times"
            case .redirectToNonExistentLocation: "the server redirects to a URL that is not http"
            case .appTransportSecurityRequiresSecureConnection: "the connection would be insecure"
            case .secureConnectionFailed: "the TLS handshake failed"
            case .serverCertificateUntrusted, .serverCertificateHasUnknownRoot:
                "the server's certificate is not trusted"
            case .serverCertificateHasBadDate, .serverCertificateNotYetValid: "the server's certificate is out of date"
            case .clientCertificateRequired, .clientCertificateRejected:
                "the server requires another client certificate"
            case .resourceUnavailable: "the resource is not available"
            case .cancelled: "cancelled"
            case .badURL, .unsupportedURL: "the transport does not support this URL"
            case .fileDoesNotExist, .noPermissionsToReadFile, .fileIsDirectory: "the file cannot be read"
            case .cannotCreateFile, .cannotOpenFile, .cannotWriteToFile, .cannotMoveFile: "the file cannot be written"
            default: "the exchange failed"
            }
        return "\(words) (URLError \(error.code.rawValue))"
    }

    private static func text(of error: DecodingError) -> String {
        switch error {
        case .keyNotFound(let key, let context): "no value at \(path(context.codingPath + [key]))"
        case .valueNotFound(let type, let context): "null instead of \(type) at \(path(context.codingPath))"
        case .typeMismatch(let type, let context): "no \(type) at \(path(context.codingPath))"
        case .dataCorrupted(let context): "not readable at \(path(context.codingPath))"
        @unknown default: "not readable"
        }
    }

    private static func text(of error: EncodingError) -> String {
        switch error {
        case .invalidValue(let value, let context):
            "a \((value as? HiddenValue)?.type ?? type(of: value)) that cannot be encoded at \(path(context.codingPath))"
        @unknown default: "not encodable"
        }
    }

    private static func path(_ keys: [any CodingKey]) -> String {
        guard !keys.isEmpty else { return "the top" }
        return keys.map { key in key.intValue.map { "[\($0)]" } ?? key.stringValue }.joined(separator: ".")
    }

    /// The type and, for an enum, the case, without associated values: they may be secrets.
    private static func name(of error: any Error) -> String {
        let type = String(describing: type(of: error))
        let mirror = Mirror(reflecting: error)
        guard mirror.displayStyle == .enum else { return type }
        return "\(type).\(mirror.children.first?.label ?? "\(error)")"
    }
}

extension String {
    /// The text in one line, with characters that could change how a terminal shows it escaped: `\u{1B}`.
    package var inOneLine: String {
        // Most texts are printable ASCII.
        if ContiguousText.read(self, body: { $0.allSatisfy { (0x20..<0x7F).contains($0) } }) { return self }
        guard unicodeScalars.contains(where: \.isEscaped) else { return self }
        var text = ""
        for scalar in unicodeScalars {
            if scalar.isEscaped {
                text += "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}

extension Unicode.Scalar {
    /// C0 and C1 controls, line and paragraph separators, and controls of the direction of text (UAX #9 §2), which can
    /// reorder a line.
    fileprivate var isEscaped: Bool {
        switch value {
        case 0..<0x20, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF: true
        default: false
        }
    }
}
