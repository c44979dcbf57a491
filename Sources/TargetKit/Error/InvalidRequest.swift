// SPDX-License-Identifier: MIT

/// The reason why a request cannot be sent: the `underlying` error of the stages `.endpoint` and `.request`.
package enum InvalidRequest: Error, Sendable, Hashable {
    /// The base URL has no `http` or `https` scheme, or no host.
    case unsupportedURL(String)
    /// The path and the base URL form no valid URL.
    case unreadableURL(String)
    /// A segment of the path is `.` or `..`, which would name another resource.
    case dotSegment(path: String)
    /// The method is not a token (RFC 9110 §5.6.2).
    case invalidMethod(String)
    /// The name of a header field is not a token (RFC 9110 §5.6.2).
    case invalidHeaderName(String)
    /// The value of the header field contains CR, LF or NUL (RFC 9110 §5.5).
    case invalidHeaderValue(name: String)
    /// The header field frames the message, and only the transport may set it (RFC 9112 §6).
    case reservedHeader(name: String)
    /// The method does not allow a body (RFC 9110 §9.3.1, §9.3.2, §9.3.8).
    case bodyNotAllowed(method: String)
    /// The task has two bodies.
    case twoBodies
    /// The task has two drivers.
    case twoDrivers
    /// A closure or plugin has set the request's `httpBodyStream`, which can be read only once and is not supported.
    case bodyStream
    /// The file to upload does not exist, cannot be read, or is not a regular file, for example a folder, pipe or
    /// device.
    case unreadableFile(path: String)
    /// The folder to download the response into does not exist and cannot be created.
    case missingFolder(path: String, reason: String?)
    /// No file can be created in the folder to download the response into, for example because its file system is
    /// read-only.
    case unwritableFolder(path: String, reason: String)
    /// The destination of a download is not a regular file: a folder, a pipe, a device.
    case notAFile(path: String)
    /// The checksum for a download is not a SHA-256 in hexadecimal digits.
    case invalidChecksum(String)
    /// The value given for the body or the query could not be encoded.
    case unencodable(String)
    /// The timeout is zero or less.
    case invalidTimeout(Duration)
    /// The task downloads to a file, but the call is a stream.
    case streamedDownload
    /// The task's upload cannot be resumed, for a reason.
    case notResumable(String)
    /// The provider has two plugins of a type of which it can have only one.
    case twoPlugins(type: String)
}

extension InvalidRequest: ReflectsDescription {
    /// The reason and the remedy, in one line, without the URL's query and the values of header fields.
    package var description: String {
        switch self {
        case .unsupportedURL(let url):
            "\"\(RedactedURL(url))\" cannot be called: the base URL needs the scheme http or https and a host"
        case .unreadableURL(let url):
            "\"\(RedactedURL(url))\" is not a valid URL: check the target's path and base URL"
        case .dotSegment(let path):
            "the path \"\(path.inOneLine)\" has a segment . or .., which names another resource: check what is interpolated"
        case .invalidMethod(let method):
            "the method \(method.debugDescription) is not an RFC 9110 token: letters, digits and !#$%&'*+-.^_`|~ only"
        case .invalidHeaderName(let name):
            "the header name \(name.debugDescription) is not an RFC 9110 token: letters, digits and !#$%&'*+-.^_`|~ only"
        case .invalidHeaderValue(let name):
            "the value of the header \(name.inOneLine) contains a CR, LF or NUL: remove it"
        case .reservedHeader(let name):
            "the header \(name.inOneLine) is set by the transport from the body itself: remove it"
        case .bodyNotAllowed(let method):
            "a \(method.inOneLine) request has no body: send the values as a query, or use another method"
        case .twoBodies:
            "the task has two bodies: give one of data, json, form, multipart, file, or parameters that go into the body"
        case .twoDrivers:
            "the task has two drivers: give one of a resumable upload, a download to a file, and a driver of your own"
        case .bodyStream:
            "a closure or plugin has set the request's httpBodyStream, which is not sent: set httpBody, or give the target a "
                + "file or a form as its HTTPTask"
        case .unreadableFile(let path):
            "the file \(RedactedURL.inside(path).inOneLine) is not there, cannot be read, or is not a regular file"
        case .missingFolder(let path, let reason):
            "the folder \(path.inOneLine), which the response is to be downloaded into, does not exist and cannot be created"
                + (reason.map { ": " + $0 } ?? "")
        case .unwritableFolder(let path, let reason):
            "the folder \(path.inOneLine), which the response is to be downloaded into, cannot be written: \(reason)"
        case .notAFile(let path):
            "the destination \(path.inOneLine) of the download is not a regular file: choose another path"
        case .invalidChecksum(let text):
            "the checksum \(text.prefix(80).debugDescription) is not a SHA-256: 64 hexadecimal digits"
        case .unencodable(let reason):
            "the task's value cannot be encoded: \(reason.inOneLine)"
        case .invalidTimeout(let timeout):
            "the timeout \(timeout) is not more than zero"
        case .streamedDownload:
            "the response cannot go into a file and be streamed: leave download(to:) out, or make a request of it"
        case .notResumable(let reason):
            "the upload cannot be resumed: \(reason.inOneLine)"
        case .twoPlugins(let type):
            "the provider has two plugins of the type \(type), which would do the same work twice: remove one of them"
        }
    }
}

extension InvalidRequest: ErrorWithKind {
    package var kind: TargetKitError.Kind? {
        if case .unreadableFile = self { .unreadableFile } else { nil }
    }
}
