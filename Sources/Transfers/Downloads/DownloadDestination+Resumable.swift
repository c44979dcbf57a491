// SPDX-License-Identifier: MIT
import TargetKit

extension DownloadDestination {
    /// The same destination, for a download that continues where the last one stopped.
    ///
    /// When a call is cancelled, fails, or ends with its process, the bytes that have arrived stay in a hidden file
    /// beside the destination, or for `choose(_:)` in the caches directory. The next call for the same URL and
    /// destination, or the next attempt of the same call, requests the rest with `Range` and `If-Range` (RFC 9110 §14).
    /// If the server's file has changed, or the request has other credentials, the download begins again: bytes of two
    /// versions or users are never mixed. The result is that of a complete download: its status is 200 and its
    /// `Content-Length` that of the file. A complete file that can't be moved to its destination stays as well.
    ///
    /// Plugins see each request as an exchange of its own; the requests of one attempt share its
    /// `RequestContext.attempt`. Plugins aren't asked to retry when the call was paused, when the download begins
    /// again, and when the server has sent only a part of the rest; the last of these is limited to 100 parts of less
    /// than 64 KiB.
    ///
    /// The server has to send a strong `ETag`, or a `Last-Modified` at least a second older than its `Date`, and must
    /// not apply a content coding: the request asks for none. A response without them is downloaded as a whole, as are
    /// requests that aren't a GET, have a body, or set `Range` or `If-Range` themselves, and all downloads of
    /// `URLSessionTransport` on Linux. While a call downloads to a destination, another one to the same destination
    /// downloads the whole file.
    public var resumable: DownloadDestination {
        isResumable ? self : segments(1)
    }

    /// The same destination, for a ``resumable`` download that requests several ranges of the file at the same time.
    ///
    /// Use it where the server limits the rate of each connection. The first request is for the whole file. If the
    /// response has `Accept-Ranges: bytes`, a length of at least 2 MiB and the fields that ``resumable`` requires, the
    /// file is divided into ranges of equal size, at least 1 MiB each, and the other ranges are requested at the same
    /// time. Plugins' `prepare` is called only for the first request; `willSend` and `didReceive` are called for each
    /// one, with a separate context. A range that the server refuses, for example because of too many connections, is
    /// requested again after the others.
    ///
    /// - Parameter maxCount: The maximum number of ranges. Values outside 1 to 16 are clamped.
    public func segments(_ maxCount: Int) -> DownloadDestination {
        var destination = self
        destination.isResumable = true
        let maxSegments = min(max(maxCount, 1), 16)
        destination.driver = { ResumableFileDownload(destination: $0, maxSegments: maxSegments) }
        return destination
    }
}
