// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// How an upload continues where it was interrupted.
///
/// ```swift
/// .upload(file: video).resumable(.tus.metadata(["filename": "a.mp4"]).chunkSize(8 << 20))
/// .upload(file: video).resumable(.http)
/// ```
///
/// When a call is cancelled, fails, or ends with its process, the server keeps what has arrived, and a small file on
/// this device keeps the URL of the upload. The next call with the same content, URL and method, or the next attempt of
/// the same call, asks the server how much it has, and sends the rest.
///
/// The content is a regular file or data in memory. A file whose size, modification date or inode has changed since is
/// treated as different content: its upload restarts, and the server is asked to delete the old one. A form, a body
/// that is encoded from values, or a stream can't be resumed; neither can a call that downloads to a file or streams
/// its response. Such a call fails before anything is sent. While a call uploads, another one with the same content,
/// URL and method fails with the kind `.conflict`.
///
/// Every request is an exchange of the call: plugins prepare, sign and observe each one, and are asked about its
/// failures. Cookies, credentials and other secrets aren't sent to an upload's URL on another origin, by the rules of
/// `RedirectPolicy`. Progress counts from what the server has.
public struct ResumableUpload: TransferDriver, Sendable, Hashable {
    enum UploadProtocol: String, Sendable, Hashable {
        case tus
        case http
    }

    let uploadProtocol: UploadProtocol
    private(set) var metadata: [String: String] = [:]
    private(set) var chunkSize: Int?
    private(set) var isTerminatedOnCancel = false
    private(set) var folder: URL?

    private init(_ uploadProtocol: UploadProtocol) {
        self.uploadProtocol = uploadProtocol
    }

    /// An upload with tus 1.0.0 and its extensions creation, creation-with-upload, expiration, checksum and
    /// termination.
    ///
    /// The first request is an OPTIONS to the target's URL. If the server doesn't announce tus in its response, the
    /// call is a plain upload with the target's method, which is sent once. Otherwise a POST to the target's URL
    /// creates the upload, whatever the target's method. The response of the call is that of the last request, usually
    /// with the status 204, and its `Location` is the URL of the upload.
    public static let tus = ResumableUpload(.tus)

    /// An upload with the resumable uploads of HTTP (draft-ietf-httpbis-resumable-upload-12, interop version 8).
    ///
    /// The request is the target's, with fields by which a server can offer to resume it. A server that doesn't know
    /// them receives a plain upload, which can't be resumed. The call returns the response to the target's request,
    /// even if a later request completes the upload. If that response was lost, it returns one without a body.
    ///
    /// With a transport that doesn't report interim responses (`URLSessionTransport`, and transports of your own
    /// without `Transport.reportsInterimResponses`), or with ``chunkSize(_:)``, the first request is an OPTIONS to the
    /// target's URL. If the server supports resumable uploads, one request without content creates the upload;
    /// otherwise the call is a plain upload.
    public static let http = ResumableUpload(.http)

    /// The same upload, with metadata for the server (`Upload-Metadata`). Only for ``tus``.
    ///
    /// - Parameter values: The names are ASCII without spaces and commas; the values are sent as UTF-8 in base64.
    ///   Uploads with different metadata are different uploads.
    public func metadata(_ values: [String: String]) -> ResumableUpload {
        with { $0.metadata = values }
    }

    /// The same upload, with requests of at most a number of bytes each; default: the whole content in one request, or
    /// 8 MiB if the server checks the checksums of tus.
    ///
    /// Smaller requests lose less if the server discards what it has received of an interrupted one, and cost more
    /// time.
    ///
    /// - Parameter bytes: At least 1. The limits that a server sets with `Upload-Limit` take precedence.
    public func chunkSize(_ bytes: Int) -> ResumableUpload {
        with { $0.chunkSize = bytes }
    }

    /// The same upload, which is deleted from the server when the call is cancelled. By default it stays there, until
    /// it expires, to be continued by another call.
    ///
    /// One DELETE is sent after the call has ended, with the header fields of its last request. It isn't repeated.
    public var terminatedOnCancel: ResumableUpload {
        with { $0.isTerminatedOnCancel = true }
    }

    /// The same upload, with another folder for its state; default: a folder in the user's folder for caches.
    ///
    /// The folder is created with mode 0700 if it doesn't exist. Each upload has a file of less than 1 KiB there with
    /// mode 0600, until it is complete. It contains the URL of the upload in clear, which some servers accept without
    /// other credentials, and no other secret. A state that is 30 days old, or has expired, is removed.
    public func stateFolder(_ folder: URL) -> ResumableUpload {
        with { $0.folder = folder }
    }

    private func with(_ change: (inout ResumableUpload) -> Void) -> ResumableUpload {
        var copy = self
        change(&copy)
        return copy
    }
}

extension ResumableUpload {
    /// Checks the options before anything is sent.
    func check() throws(InvalidRequest) {
        if let chunkSize, chunkSize < 1 { throw .notResumable("the chunk size \(chunkSize) is less than 1 byte") }
        if let folder, !folder.isFileURL { throw .notResumable("the folder for its state is not a file URL") }
        guard uploadProtocol == .tus || metadata.isEmpty else {
            throw .notResumable("only tus has metadata; use header fields or a query")
        }
        for name in metadata.keys {
            guard !name.isEmpty, name.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ",") }) else {
                throw .notResumable(
                    "the name \(name.debugDescription) of its metadata is not ASCII without spaces and commas"
                )
            }
        }
    }

    /// The value of `Upload-Metadata`; `nil` if there is none.
    var metadataField: String? {
        guard !metadata.isEmpty else { return nil }
        return metadata.sorted { $0.key < $1.key }
            .map { name, value in value.isEmpty ? name : "\(name) \(Data(value.utf8).base64EncodedString())" }
            .joined(separator: ",")
    }
}

extension ResumableUpload: RedactedDescription {
    /// The protocol.
    package var redactedDescription: String { uploadProtocol == .tus ? "tus" : "resumable uploads of HTTP" }
}

extension HTTPTask {
    /// Returns this task with an upload that continues where it was interrupted, for example
    /// `.upload(file: video).resumable(.tus)`.
    ///
    /// The body is a file or data. With any other one the call fails, and nothing is sent.
    public func resumable(_ upload: ResumableUpload) -> HTTPTask {
        var task = driver(upload)
        task.isPausable = true
        return task
    }
}
