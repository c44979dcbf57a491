// SPDX-License-Identifier: MIT

/// The reason why a ``MultipartForm`` cannot be sent, and the part that it is about.
public struct MultipartError: Error, Sendable, Hashable {
    /// What is wrong.
    package enum Reason: Error, Sendable, Hashable {
        /// The form has no parts.
        case emptyForm
        /// RFC 2046 §5.1.1 does not allow that boundary.
        case boundary(String)
        /// A header field's name is not an RFC 9110 token, or it is `Content-Disposition`, which the form writes.
        case headerName(String)
        /// The value of a header field, for example the MIME type, contains CR, LF or NUL.
        case headerValue(name: String)
        /// A value could not be encoded; the text says where and why.
        case notEncodable(String)
        /// A file cannot be sent.
        case file(FileBodySource.Failure)
        /// A stream does not know its length, or says a negative one.
        case unknownLength
        /// A stream said that it gives `expected` bytes, and gave fewer or more.
        case wrongLength(expected: Int64)
        /// A stream failed, or returned a number of bytes that its buffer cannot hold; the text says why.
        case stream(String)
        /// The body has more than `Int64.max` bytes.
        case tooLong
        /// The part is a file or a stream, and the body was asked for as `Data`.
        case notInMemory
    }

    /// Which part of a form.
    struct Position: Sendable, Hashable {
        var index: Int
        var name: String
    }

    /// What is wrong.
    package let reason: Reason
    /// The part's index in the form, from 0; `nil` if the error is about the whole form.
    public let partIndex: Int?
    /// The part's name; `nil` if the error is about the whole form.
    public let partName: String?

    /// The path of the file that is wrong; `nil` when it is no file that is.
    package var filePath: String? {
        guard case .file(let failure) = reason else { return nil }
        return failure.path
    }

    init(reason: Reason, position: Position? = nil) {
        self.reason = reason
        partIndex = position?.index
        partName = position?.name
    }

    init(_ reason: Reason, at index: Int, of part: MultipartForm.Part) {
        self.init(reason: reason, position: Position(index: index, name: part.name))
    }
}

extension MultipartError: CustomStringConvertible {
    /// The part, the reason and what to do in one line, without the contents of parts.
    public var description: String {
        guard let partIndex, let partName else { return "multipart form: \(reason)" }
        return "multipart form, part \(partIndex + 1) \(partName.debugDescription): \(reason)"
    }
}

extension MultipartError.Reason: CustomStringConvertible {
    /// What is wrong and what to do, in one line.
    package var description: String {
        switch self {
        case .emptyForm: "it has no parts; add one, or send the request without a form"
        case .boundary(let boundary):
            "the boundary \(boundary.debugDescription) is not 1 to 70 of RFC 2046's characters; "
                + "leave it out for a random one"
        case .headerName(let name):
            "\(name.debugDescription) cannot be a header field of a part; use a token other than Content-Disposition"
        case .headerValue(let name): "the value of \(name) holds a line break or NUL; remove it"
        case .notEncodable(let why): "the value cannot be encoded, \(why); change the value or the encoder"
        case .file(let failure): failure.description
        case .unknownLength: "the stream does not know its length; give it one, or send a file"
        case .wrongLength(let expected):
            "the stream did not give the \(expected) bytes that its length says; correct the length"
        case .stream(let why): "the stream failed: \(why)"
        case .tooLong: "the body is longer than any server takes; check the lengths of the streams"
        case .notInMemory: "it is read as it is sent; use bodySource() instead of data()"
        }
    }
}
