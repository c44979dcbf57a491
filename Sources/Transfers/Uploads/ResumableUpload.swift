// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

/// The protocol and options of an upload that continues where it was interrupted.
///
/// ```swift
/// .upload(file: video).resumable(.tus.metadata(["filename": "a.mp4"]).chunkSize(8 << 20))
/// .upload(file: video).resumable(.http)
/// ```
///
/// When a call is cancelled, fails, or ends with its process, the server keeps the received bytes, and a small file on
/// this device stores the upload's URL. The next call with the same content, URL and method, or the next attempt of the
/// same call, requests the server's offset and sends the rest.
///
/// The content is a regular file or data in memory. If the size, modification date or inode of a file has changed, its
/// upload starts over, and the old upload is deleted from the server. Forms, bodies encoded from values, and streams
/// can't be resumed; neither can calls that download to a file or stream their response. Such a call fails before
/// anything is sent. While a call uploads, another call with the same content, URL and method fails with the kind
/// `.conflict`.
///
/// Every request is an exchange of the call. Plugins prepare, sign and observe each one, and can retry its failures.
/// Cookies, credentials and other secrets aren't sent to an upload's URL on another origin, by the rules of
/// `RedirectPolicy`. Progress starts at the server's offset.
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
    /// The URL of an upload that exists; `nil` for one that the call creates.
    private(set) var url: URL?
    private(set) var isDiscovered = true

    private init(_ uploadProtocol: UploadProtocol) {
        self.uploadProtocol = uploadProtocol
    }

    /// An upload with tus 1.0.0 and its extensions creation, creation-with-upload, expiration, checksum and
    /// termination.
    ///
    /// The first request is an OPTIONS to the target's URL. If the server doesn't announce tus in its response, the
    /// call is a plain upload with the target's method, which is sent once. Otherwise a POST to the target's URL
    /// creates the upload, regardless of the target's method. The call returns the response to the last request,
    /// usually with status 204, and its `Location` is the absolute URL of the upload.
    public static let tus = ResumableUpload(.tus)

    /// An upload with the resumable uploads of HTTP (draft-ietf-httpbis-resumable-upload-12, interop version 8).
    ///
    /// The request is the target's, with additional fields. A server that doesn't support them receives a plain upload,
    /// which can't be resumed. The call returns the response to the target's request, even if a later request completes
    /// the upload. If that response was lost, the call returns a response without a body.
    ///
    /// With a transport that doesn't report interim responses (`URLSessionTransport`, and custom transports without
    /// `Transport.reportsInterimResponses`), or with ``chunkSize(_:)``, the first request is an OPTIONS to the target's
    /// URL. If the server supports resumable uploads, one request without content creates the upload; otherwise the
    /// call is a plain upload.
    public static let http = ResumableUpload(.http)

    /// A copy of the upload with metadata for the server (`Upload-Metadata`). Only for ``tus``.
    ///
    /// - Parameter values: The values by name. Names are ASCII without spaces and commas. Values are sent as UTF-8 in
    ///   base64. An upload with different metadata is a different upload.
    public func metadata(_ values: [String: String]) -> ResumableUpload {
        with { $0.metadata = values }
    }

    /// A copy of the upload that continues the upload at a URL, for example one that your backend created. Only for
    /// ``tus``.
    ///
    /// The call sends neither OPTIONS nor a POST: a HEAD requests the server's offset. If the server doesn't have the
    /// upload, or the content changed since an earlier call, the call fails; it never creates another upload. By the
    /// rules of `RedirectPolicy`, cookies, credentials and other secrets are sent to the URL only if it has the origin
    /// of the target's URL.
    ///
    /// - Parameter url: The http URL of the upload. The target's URL isn't requested.
    public func url(_ url: URL) -> ResumableUpload {
        with { $0.url = url }
    }

    /// A copy of the upload that creates the upload without requesting the server's features with OPTIONS, for a
    /// gateway that responds to OPTIONS itself. Only for ``tus``.
    ///
    /// The server must support the extension creation. Its extensions creation-with-upload and checksum aren't used.
    public var withoutDiscovery: ResumableUpload {
        with { $0.isDiscovered = false }
    }

    /// A copy of the upload that sends at most a number of bytes in each request; default: the whole content, or 8 MiB
    /// if the server supports the checksums of tus.
    ///
    /// Smaller requests are slower, but lose fewer bytes if the server discards interrupted requests.
    ///
    /// - Parameter bytes: At least 1. The limits that a server sets with `Upload-Limit` take precedence.
    public func chunkSize(_ bytes: Int) -> ResumableUpload {
        with { $0.chunkSize = bytes }
    }

    /// A copy of the upload that is deleted from the server when the call is cancelled. By default, the upload stays on
    /// the server until it expires, so that another call can continue it.
    ///
    /// One DELETE is sent after the call has ended, with the header fields of its last request. It isn't retried.
    public var terminatedOnCancel: ResumableUpload {
        with { $0.isTerminatedOnCancel = true }
    }

    /// A copy of the upload with another folder for its state; default: a folder in the user's caches folder.
    ///
    /// The folder is created with mode 0700 if it doesn't exist. Until an upload is complete, the folder contains a
    /// file for it, with less than 1 KiB and mode 0600. The file contains the upload's URL in plain text, which some
    /// servers accept without other credentials, and no other secret. The state is removed after 30 days, or when it
    /// has expired.
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
        if let folder, !folder.isFileURL { throw .notResumable("the folder for its state isn't a file URL") }
        guard uploadProtocol == .tus || metadata.isEmpty else {
            throw .notResumable("only tus has metadata; use header fields or a query")
        }
        guard uploadProtocol == .tus || url == nil && isDiscovered else {
            throw .notResumable("only tus uploads to a given URL or without discovery")
        }
        if let url, !url.isCallable { throw .notResumable("the URL of the upload isn't an http URL") }
        for name in metadata.keys {
            guard !name.isEmpty, name.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ",") }) else {
                throw .notResumable(
                    "the metadata name \(name.debugDescription) isn't ASCII without spaces and commas"
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
    package var redactedDescription: String { uploadProtocol == .tus ? "tus" : "resumable uploads over HTTP" }
}

extension HTTPTask {
    /// A copy of this task with a resumable upload, for example `.upload(file: video).resumable(.tus)`.
    ///
    /// The body must be a file or data. With any other body, the call fails before anything is sent.
    public func resumable(_ upload: ResumableUpload) -> HTTPTask {
        driver(upload)
    }
}
