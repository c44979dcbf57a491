// SPDX-License-Identifier: MIT

/// The reason why a request can't be sent, the `underlying` error of stages `.endpoint` and `.request`.
package enum InvalidRequest: Error, Sendable, Hashable {
    /// The base URL has no `http` or `https` scheme, no host, or an invalid host or port.
    case unsupportedURL(String)
    /// The path and the base URL don't form a valid URL.
    case unreadableURL(String)
    /// A segment of the path is `.` or `..`, which refers to another resource.
    case dotSegment(path: String)
    /// The method isn't a token (RFC 9110 §5.6.2).
    case invalidMethod(String)
    /// The name of a header field isn't a token (RFC 9110 §5.6.2).
    case invalidHeaderName(String)
    /// The value of a header field contains CR, LF or NUL (RFC 9110 §5.5).
    case invalidHeaderValue(name: String)
    /// The header field frames the message (RFC 9112 §6); only the transport may set it.
    case reservedHeader(name: String)
    /// The method doesn't allow a body (RFC 9110 §9.3.1, §9.3.2, §9.3.8).
    case bodyNotAllowed(method: String)
    /// The task has two bodies.
    case twoBodies
    /// The task has two drivers.
    case twoDrivers
    /// A closure or plugin set the request's `httpBodyStream`, which isn't supported because it can be read only once.
    case bodyStream
    /// The file to upload doesn't exist, can't be read, or isn't a regular file, for example a folder, pipe or device.
    case unreadableFile(path: String)
    /// The destination folder doesn't exist and can't be created.
    case missingFolder(path: String, reason: String?)
    /// No file can be created in the destination folder, for example on a read-only file system.
    case unwritableFolder(path: String, reason: String)
    /// The destination of a download isn't a regular file, for example a folder, pipe or device.
    case notAFile(path: String)
    /// The checksum for a download isn't a SHA-256 digest in hexadecimal digits.
    case invalidChecksum(String)
    /// The timeout is zero or less.
    case invalidTimeout(Duration)
    /// The task downloads to a file, but the call is a stream.
    case streamedDownload
    /// The task's upload can't be resumed.
    case notResumable(String)
    /// The provider has two plugins of a type that allows only one.
    case twoPlugins(type: String)
}

extension InvalidRequest: RedactedDescription {
    /// The reason and the remedy, in one line, without the URL's query and the values of header fields.
    var redactedDescription: String {
        switch self {
        case .unsupportedURL(let url):
            url.authorityProblem.map { "\"\(RedactedURL(url))\" can't be called: \($0)" }
                ?? "\"\(RedactedURL(url))\" can't be called; use a base URL with a host and the scheme http or https"
        case .unreadableURL(let url):
            "\"\(RedactedURL(url))\" isn't a valid URL; check the target's path and base URL"
        case .dotSegment(let path):
            "the path \"\(path.inOneLine)\" has a segment . or .., which refers to another resource; "
                + "check the interpolated values"
        case .invalidMethod(let method):
            "the method \(method.debugDescription) isn't an RFC 9110 token; use letters, digits and !#$%&'*+-.^_`|~"
        case .invalidHeaderName(let name):
            "the header name \(name.debugDescription) isn't an RFC 9110 token; use letters, digits and !#$%&'*+-.^_`|~"
        case .invalidHeaderValue(let name):
            "the value of the header \(name.inOneLine) contains a CR, LF or NUL; remove it"
        case .reservedHeader(let name):
            "the header \(name.inOneLine) is set by the transport; remove it"
        case .bodyNotAllowed(let method):
            "a \(method.inOneLine) request can't have a body; send the values as a query, or use another method"
        case .twoBodies:
            "the task has two bodies; use only one of data, json, form, multipart, file, or parameters in the body"
        case .twoDrivers:
            "the task has two drivers; use only one of a resumable upload, a download to a file, and a custom driver"
        case .bodyStream:
            "a closure or plugin set the request's httpBodyStream, which isn't supported; set httpBody, or use a "
                + "file or a form as the target's HTTPTask"
        case .unreadableFile(let path):
            "the file \(RedactedURL.inside(path).inOneLine) doesn't exist, can't be read, or isn't a regular file"
        case .missingFolder(let path, let reason):
            "the destination folder \(path.inOneLine) doesn't exist and can't be created"
                + (reason.map { ": " + $0 } ?? "")
        case .unwritableFolder(let path, let reason):
            "the destination folder \(path.inOneLine) isn't writable: \(reason)"
        case .notAFile(let path):
            "the download destination \(path.inOneLine) isn't a regular file; choose another path"
        case .invalidChecksum(let text):
            "the checksum \(text.prefix(80).debugDescription) isn't a SHA-256 digest; use 64 hexadecimal digits"
        case .invalidTimeout(let timeout):
            "the timeout \(timeout) isn't greater than zero"
        case .streamedDownload:
            "a streamed response can't be stored in a file; remove download(to:), or use request instead of stream"
        case .notResumable(let reason):
            "the upload can't be resumed: \(reason.inOneLine)"
        case .twoPlugins(let type):
            "the provider has two plugins of type \(type), but only one is allowed; remove one"
        }
    }
}

/// The reason why a call can't be made with the credential of its request.
package enum CredentialError: Error, RedactedDescription {
    /// A plugin found in the body of a response with an accepted status that the server rejected the credential.
    case rejected
    /// The request wasn't sent because its credential and the call belong to different users.
    case ofOtherOwner

    /// What happened, and how to resolve it.
    var redactedDescription: String {
        switch self {
        case .rejected: "the body reports that the credential was rejected"
        case .ofOtherOwner:
            "the call belongs to another user than the one who is signed in; "
                + "it can be made when that user signs in again"
        }
    }
}

/// The limit that a timed-out call exceeded, with the option that sets it.
enum ExceededLimit: CustomStringConvertible {
    case exchange(Duration)
    case wholeCall(Duration?)
    /// A stub's delay is longer than what is left of the exchange's limit.
    case stub(delay: Duration, limit: Duration)

    var description: String {
        switch self {
        case .exchange(let limit):
            #"the request timed out: the exchange took longer than \#(limit); set \.timeout to a longer .exchange(…)"#
        case .wholeCall(let limit):
            "the request timed out: the whole call, with its retries and waits, took longer than "
                + #"\#(limit.map { "\($0)" } ?? "its limit"); set \.timeout to a longer .wholeCall(…)"#
        case .stub(let delay, let limit):
            "the request timed out: the stub's delay of \(delay) exceeds the exchange's limit of \(limit); "
                + #"shorten the delay, or set \.timeout to a longer .exchange(…)"#
        }
    }

    /// The error of a call that exceeded the limit.
    var error: URLError {
        var userInfo: [String: Any] = [FailureMark.words: description]
        if case .wholeCall = self { userInfo[FailureMark.wholeCall] = true }
        return URLError(.timedOut, userInfo: userInfo)
    }

    /// A timeout that doesn't state its limit, with this limit; any other error unchanged.
    func explaining(_ error: any Error) -> any Error {
        guard let error = error as? URLError, error.code == .timedOut, error.userInfo[FailureMark.words] == nil else {
            return error
        }
        var userInfo = error.userInfo
        userInfo[FailureMark.words] = description
        return URLError(.timedOut, userInfo: userInfo)
    }
}
