// SPDX-License-Identifier: MIT
import TargetKit
import _TargetKitFiles

extension DownloadDestination {
    /// A copy of the destination whose downloads continue where the last one stopped.
    ///
    /// When a call is cancelled, fails, or ends with its process, the received bytes stay in a hidden file beside the
    /// destination, or for `choose(_:)` in the caches folder. The next call for the same URL and destination, or the
    /// next attempt of the same call, requests the rest with `Range` and `If-Range` (RFC 9110 §14). If the server's
    /// file has changed, or the request has other credentials, the download starts over, so that bytes of two versions
    /// or users are never mixed. The response describes a complete download, with status 200 and the file's
    /// `Content-Length`. A complete file that can't be moved to its destination stays, too.
    ///
    /// Plugins observe each request as a separate exchange; the requests of one attempt share its
    /// `RequestContext.attempt`. The download sends another request without consulting plugins after a pause, when it
    /// starts over, and when the server sends only a part of the rest. The number of parts under 64 KiB is limited to
    /// 100.
    ///
    /// The server must send a strong `ETag`, or a `Last-Modified` at least a second older than its `Date`, and no
    /// content coding, for which the request sets `Accept-Encoding: identity`. Other responses are downloaded as a
    /// whole, as are requests that aren't a GET, have a body, or set `Range` or `If-Range` themselves, and all
    /// downloads of `URLSessionTransport` on Linux. While a call downloads to a destination, a second call to the same
    /// destination downloads the whole file.
    public var resumable: DownloadDestination {
        isResumable ? self : segments(1)
    }

    /// A copy of the destination for a file that is identified by a text instead of by the URL of its request, so that
    /// its ``resumable`` download continues at another URL of the file, such as a new pre-signed URL.
    ///
    /// The download starts over unless the response comes from the same scheme, host and path, with the same validator,
    /// to a request with the same credentials. The query isn't compared, so the text must also identify the user if the
    /// file is the user's own.
    ///
    /// - Parameter identifier: Identifies the file. Only its digest is stored.
    public func identified(by identifier: String) -> DownloadDestination {
        var destination = self
        destination.identifier = identifier
        return destination
    }

    /// A copy of the destination whose downloads are ``resumable`` and request several ranges of the file at the same
    /// time.
    ///
    /// Use it where the server limits the rate of each connection. The first request is for the whole file. If the
    /// response has `Accept-Ranges: bytes`, a length of at least 2 MiB and the fields that ``resumable`` requires, the
    /// file is divided into ranges of equal size, at least 1 MiB each, and the other ranges are requested at the same
    /// time. The plugins' `prepare` is called only for the first request, `willSend` and `didReceive` for each request,
    /// with a separate context. A range that the server rejects, for example because of too many connections, is
    /// requested again after the others.
    ///
    /// - Parameter maxCount: The maximum number of ranges. Values outside 1 to 16 are clamped.
    public func segments(_ maxCount: Int) -> DownloadDestination {
        var destination = self
        destination.isResumable = true
        destination.fileCheck = fileCheck ?? DownloadChecksum(sha256: nil)
        let maxSegments = min(max(maxCount, 1), 16)
        destination.driver = { ResumableFileDownload(destination: $0, maxSegments: maxSegments) }
        return destination
    }
}

extension DownloadDestination {
    /// Identifies the file of a download from a URL.
    func identity(at url: URL) -> String { identifier.map { "file \($0)" } ?? url.absoluteString }

    /// The name of the incomplete file that a later call continues.
    package func part(for url: URL) -> URL {
        let neighbor = partNeighbor
        let text = replacedFile?.lastPathComponent ?? identity(at: url)
        let name = PartialFile.hiddenPrefix(beside: neighbor) + SHA256Hasher.hexadecimal(of: text).prefix(16)
        return neighbor.deletingLastPathComponent().appendingPathComponent(name + ".download")
    }
}
