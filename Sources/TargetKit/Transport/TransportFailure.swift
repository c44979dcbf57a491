// SPDX-License-Identifier: MIT

/// The reason why an exchange failed, without its URL.
struct TransportFailure: Error {
    var code: URLError.Code
    var message: String
    /// Whether the message contains only TargetKit's own text and numbers, so that error texts may include it.
    var isQuotable = false
    /// Further values of the error's `userInfo`.
    var info: [String: any Sendable] = [:]

    @inline(never)
    init(_ code: URLError.Code, message: String) {
        self.code = code
        self.message = message
    }

    init(_ error: URLError) {
        self.init(error.code, message: error.message)
    }

    /// A failure with a message that error texts may include.
    @inline(never)
    static func quotable(_ code: URLError.Code, _ message: String) -> Self {
        var failure = Self(code, message: message)
        failure.isQuotable = true
        return failure
    }

    /// The error for the caller.
    @inline(never)
    func error(for url: URL) -> URLError {
        var info = info
        if isQuotable { info[FailureMark.words] = message }
        return .failure(code, message: message, for: url, info)
    }

    static let cancelled = Self(.cancelled, message: "the call was cancelled")
    static let shutDown = Self(.cancelled, message: "the transport was shut down")
    static let timedOut = Self(.timedOut, message: "the request timed out")
    static let unsupportedScheme = Self(.unsupportedURL, message: "only http and https are supported")
    static let missingHost = Self(.badURL, message: "the URL has no host")

    static func overLimit(_ limit: Int) -> Self {
        Self(.dataLengthExceedsMaximum, message: "the body exceeds the limit of \(limit) bytes")
    }
}

extension URLError {
    /// The error of an exchange, with its URL without user, query and fragment, and a sentence.
    package static func failure(
        _ code: Code,
        message: String,
        for url: URL,
        _ info: [String: any Sendable] = [:]
    ) -> URLError {
        var all: [String: Any] = [NSURLErrorFailingURLErrorKey: url.redacted, NSLocalizedDescriptionKey: message]
        for (key, value) in info { all[key] = value }
        return URLError(code, userInfo: all)
    }
}
