// SPDX-License-Identifier: MIT

/// The reason why an exchange failed, without its URL.
package struct URLSessionFailure: Error {
    var code: URLError.Code
    var message: String
    /// A key of ``FailureMark`` to set.
    var mark: String?
    /// Whether the message contains only TargetKit's own text and numbers, so that error texts may include it.
    private var isQuotable = false

    init(_ code: URLError.Code, message: String) {
        self.code = code
        self.message = message
    }

    init(_ error: URLError) {
        self.init(error.code, message: error.message)
    }

    #if canImport(FoundationNetworking)
    /// A failure for a feature that Foundation on Linux doesn't support. The words follow "can't".
    static func notOnLinux(_ words: String, code: URLError.Code = .unsupportedURL) -> Self {
        Self(code, message: "URLSession on Linux can't \(words); CurlTransport can")
    }
    #endif

    static func overLimit(_ limit: Int) -> Self {
        Self(.dataLengthExceedsMaximum, message: "the body exceeds the limit of \(limit) bytes")
    }

    /// A failure with a message that error texts may include.
    static func quotable(_ code: URLError.Code, _ message: String) -> Self {
        var failure = Self(code, message: message)
        failure.isQuotable = true
        return failure
    }

    /// The error for the caller.
    func error(for url: URL) -> URLError {
        let error = Self.error(code, message: message, for: url)
        guard mark != nil || isQuotable else { return error }
        var userInfo = error.userInfo
        if let mark { userInfo[mark] = true }
        if isQuotable { userInfo[FailureMark.words] = message }
        return URLError(error.code, userInfo: userInfo)
    }

    package static func error(_ code: URLError.Code, message: String, for url: URL) -> URLError {
        URLError(code, userInfo: [NSURLErrorFailingURLErrorKey: url.redacted, NSLocalizedDescriptionKey: message])
    }

    /// The error for the caller if a task ended with an error.
    package static func error(_ error: any Error, hasHead: Bool, for url: URL) -> any Error {
        #if canImport(FoundationNetworking)
        guard let given = error as? URLError else { return error }
        // Only the idle timeout has no description.
        let words = given.userInfo[NSLocalizedDescriptionKey] as? String ?? "no data was sent or received for too long"
        let said = words == Self.refusedHead ? Self.notOnLinux(Self.readingHead).message : words
        return Self.error(code(given.code, words: words, hasHead: hasHead), message: said, for: url)
        #else
        return RedactedError.of(error)
        #endif
    }

    #if canImport(FoundationNetworking)
    /// libcurl's message if Foundation can't parse a line of the head.
    private static let refusedHead = "Failed writing header"
    private static let readingHead =
        "read this head: its status line may lack the space after the code (RFC 9112 §4), or a field isn't UTF-8"

    /// A more specific code. Foundation on Linux reports most of libcurl's results as `.unknown`; only the message,
    /// from `curl_easy_strerror` or the error buffer, distinguishes them.
    private static func code(_ code: URLError.Code, words: String, hasHead: Bool) -> URLError.Code {
        switch code {
        // An empty response.
        case .badServerResponse where !hasHead: return .networkConnectionLost
        // The response doesn't start like HTTP; the URL's scheme is already checked.
        case .unsupportedURL: return .badServerResponse
        case .unknown: break
        default: return code
        }
        let words = words.lowercased()
        let meanings: [([String], URLError.Code)] = [
            // TLS that ends after its handshake is a lost connection, because the request may have been read.
            (["ssl_read", "ssl_write", "recv error", "send error"], .networkConnectionLost),
            (["certificate"], .serverCertificateUntrusted),
            (["ssl", "tls"], .secureConnectionFailed),
            (["content encoding", "content-encoding", "decod", "inflate", "unencod"], .cannotDecodeContentData),
            (["weird server reply", "status line", "http version", "http/1"], .badServerResponse),
            (["chunk", "hexadecimal", "header", "transfer-encoding", "writing output", "write"], .cannotParseResponse),
            (["couldn't connect", "could not connect", "failed to connect"], .cannotConnectToHost),
        ]
        return meanings.first { meaning in meaning.0.contains { words.contains($0) } }?.1 ?? .networkConnectionLost
    }
    #endif
}
