// SPDX-License-Identifier: MIT
import Foundation

/// Where a download is stored, and how.
///
/// ```swift
/// .download(to: .folder(downloads).existingFile(.number).resumable)
/// .download(to: .file(archive).checksum(sha256: published))
/// .download(to: .choose { head, name in folder.appendingPathComponent("\(Date.now.timeIntervalSince1970) \(name)") })
/// ```
///
/// The file appears at its place only when the complete body has arrived, its checksums are right, and the response is
/// an accepted success. Missing folders are created. On iOS, tvOS, watchOS and visionOS, the file is protected until
/// the first unlock after a restart (`FileProtectionType.completeUntilFirstUserAuthentication`), so that a download
/// continues while the device is locked.
///
/// A body that does not match a SHA-256 in the response's `Repr-Digest` or `Content-Digest` (RFC 9530) fails the call
/// with `URLError(.badServerResponse)`. They are not checked for a body with a content coding, because they describe
/// the coded bytes.
public struct DownloadDestination: Sendable {
    /// What happens when there already is a file at the destination.
    public enum ExistingFile: Sendable, Hashable {
        /// The download replaces it. The new file gets the old one's permissions.
        case replace
        /// The call fails and the file is unchanged. If the name is known before the response, nothing is sent.
        /// ``TargetKitError/kind`` is `.conflict`.
        case keep
        /// The download gets the next free name: `report 2.pdf`, `report 3.pdf`, and so on.
        case number
    }

    enum Location: Sendable {
        case file(URL)
        case folder(URL)
        case chosen(@Sendable (ResponseHead, String) throws -> URL)
    }

    let location: Location
    private(set) var existingFile = ExistingFile.replace
    private(set) var isResumable = false
    /// How many ranges are requested at the same time.
    private(set) var maxSegments = 1
    /// The expected SHA-256 as the caller has given it.
    private(set) var sha256: String?

    private init(_ location: Location) {
        self.location = location
    }

    /// A file.
    ///
    /// An existing destination must be a regular file or a symbolic link to one, which is followed. Otherwise the call
    /// fails and nothing is sent: also if the link leads to nothing, or the system does not follow it because another
    /// user has created it in a shared folder.
    public static func file(_ url: URL) -> DownloadDestination { Self(.file(url)) }

    /// A file in a folder, with the name that the server gives it.
    ///
    /// The name is the one of `Content-Disposition` (RFC 6266), else the last component of the response's URL, else
    /// `download`. Path components, control characters, and names that a system reserves are removed from it, so that
    /// the file is always in the folder: also when the name is that of a symbolic link, which is replaced, not
    /// followed.
    public static func folder(_ url: URL) -> DownloadDestination { Self(.folder(url)) }

    /// A file that a closure chooses when the complete body has arrived.
    ///
    /// - Parameter choose: Returns the file URL. It receives the head of the response and the name that ``folder(_:)``
    ///   would use. An error that it throws fails the call.
    public static func choose(
        _ choose: @escaping @Sendable (_ head: ResponseHead, _ suggestedName: String) throws -> URL
    ) -> DownloadDestination {
        Self(.chosen(choose))
    }

    /// The same destination, with another rule for an existing file; default: ``ExistingFile/replace``.
    public func existingFile(_ rule: ExistingFile) -> DownloadDestination {
        var destination = self
        destination.existingFile = rule
        return destination
    }

    /// The same destination, for a download that continues where the last one stopped.
    ///
    /// When a call is cancelled, fails, or ends with its process, the bytes that have arrived stay in a hidden file
    /// beside the destination, or for ``choose(_:)`` in the caches directory. The next call for the same URL and
    /// destination, or the next attempt of the same call, requests the rest with `Range` and `If-Range` (RFC 9110 §14).
    /// If the server's file has changed, or the request has other credentials, the download begins again: bytes of two
    /// versions or users are never mixed. The result is that of a complete download: its status is 200 and its
    /// `Content-Length` that of the file. A complete file that cannot be moved to its destination stays as well.
    ///
    /// Each request is an exchange of its own for plugins, with the next ``RequestContext/attempt``. They are not asked
    /// to retry when the call was paused, when the download begins again, and when the server has sent only a part of
    /// the rest; the last of these is limited to 100 parts of less than 64 KiB.
    ///
    /// The server has to send a strong `ETag`, or a `Last-Modified` at least a second older than its `Date`, and must
    /// not apply a content coding: the request asks for none. A response without them is downloaded as a whole, as are
    /// requests that are not a GET, have a body, or set `Range` or `If-Range` themselves, and all downloads of
    /// `URLSessionTransport` on Linux. While a call downloads to a destination, another one to the same destination
    /// downloads the whole file.
    public var resumable: DownloadDestination {
        var destination = self
        destination.isResumable = true
        return destination
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
        var destination = resumable
        destination.maxSegments = min(max(maxCount, 1), 16)
        return destination
    }

    /// The same destination, for a file with a known SHA-256. Another file fails the call with
    /// `URLError(.badServerResponse)` and is removed.
    ///
    /// - Parameter digest: 64 hexadecimal digits. With anything else the call fails and nothing is sent.
    public func checksum(sha256 digest: String) -> DownloadDestination {
        var destination = self
        destination.sha256 = digest
        return destination
    }
}

extension DownloadDestination {
    /// The properties that are equal for two downloads to the same place.
    struct SharingKey: Hashable {
        let file: URL
        let isFolder: Bool
        let existingFile: ExistingFile
        let isResumable: Bool
        let sha256: String?
    }

    /// `nil` if a closure chooses the file: closures cannot be compared.
    var sharingKey: SharingKey? {
        let (file, isFolder): (URL, Bool)
        switch location {
        case .file(let url): (file, isFolder) = (url, false)
        case .folder(let url): (file, isFolder) = (url, true)
        case .chosen: return nil
        }
        return SharingKey(
            file: file,
            isFolder: isFolder,
            existingFile: existingFile,
            isResumable: isResumable,
            sha256: sha256?.lowercased()
        )
    }
}

extension DownloadDestination: RedactedDescription {
    /// The file or folder.
    package var redactedDescription: String {
        switch location {
        case .file(let url): "the file \(url.path)"
        case .folder(let url): "the folder \(url.path)"
        case .chosen: "a chosen file"
        }
    }
}
