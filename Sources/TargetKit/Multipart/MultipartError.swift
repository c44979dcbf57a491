// SPDX-License-Identifier: MIT

/// The reason why a ``MultipartForm`` can't be sent, and the invalid part.
public struct MultipartError: Error, Sendable, Hashable {
    /// The reason.
    enum Reason: Sendable, Hashable {
        /// The form has no parts.
        case emptyForm
        /// The boundary is invalid (RFC 2046 §5.1.1).
        case boundary(String)
        /// A header field's name isn't an RFC 9110 token, or is `Content-Disposition`, which is reserved for the form.
        case headerName(String)
        /// The value of a header field, for example the MIME type, contains CR, LF or NUL.
        case headerValue(name: String)
        /// A value couldn't be encoded. The associated value has the location and reason.
        case notEncodable(String)
        /// A file can't be sent.
        case file(URLError, path: String)
        /// The length of a stream is unknown or negative.
        case unknownLength
        /// A stream provided more or fewer bytes than its length, `expected`.
        case wrongLength(expected: Int64)
        /// A stream failed, or returned an invalid byte count. The associated value has the reason.
        case stream(String)
        /// The body has more than `Int64.max` bytes.
        case tooLong
        /// The body was requested as `Data`, but the part is a file or a stream.
        case notInMemory
    }

    /// The position of a part in a form.
    struct Position: Sendable, Hashable {
        var index: Int
        var name: String
    }

    let reason: Reason
    /// The part's index in the form, from 0; `nil` if the error is about the whole form.
    public let partIndex: Int?
    /// The part's name; `nil` if the error is about the whole form.
    public let partName: String?

    /// The path of the invalid file; `nil` if the error isn't about a file.
    package var filePath: String? {
        guard case .file(_, let path) = reason else { return nil }
        return path
    }

    init(reason: Reason, position: Position? = nil) {
        self.reason = reason
        partIndex = position?.index
        partName = position?.name
    }
}

extension MultipartError: RedactedDescription {
    /// The part, the reason and what to do in one line, without the contents of parts.
    var redactedDescription: String {
        guard let partIndex, let partName else { return "multipart form: \(reason)" }
        return "multipart form, part \(partIndex + 1) \(partName.debugDescription): \(reason)"
    }
}

extension MultipartError: ErrorWithKind {
    package var kind: TargetKitError.Kind? {
        filePath == nil ? nil : .unreadableFile
    }
}

extension MultipartError.Reason: CustomStringConvertible {
    /// The reason and the remedy, in one line.
    var description: String {
        switch self {
        case .emptyForm: "it has no parts; add one, or send the request without a form"
        case .boundary(let boundary):
            "the boundary \(boundary.debugDescription) isn't 1 to 70 of the characters that RFC 2046 allows; "
                + "omit it for a random boundary"
        case .headerName(let name):
            "\(name.debugDescription) can't be a header field of a part; use a token other than Content-Disposition"
        case .headerValue(let name): "the value of \(name) contains a line break or NUL; remove it"
        case .notEncodable(let why): "the value can't be encoded, \(why); change the value or the encoder"
        case .file(let error, _): error.message
        case .unknownLength: "the stream has no length; specify its length, or send a file"
        case .wrongLength(let expected):
            "the stream didn't provide its declared length of \(expected) bytes; correct the length"
        case .stream(let why): "the stream failed: \(why)"
        case .tooLong: "the body is too long; check the lengths of the streams"
        case .notInMemory: "its contents aren't in memory; use bodySource() instead of data()"
        }
    }
}
