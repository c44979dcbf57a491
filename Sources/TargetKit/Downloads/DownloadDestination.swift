// SPDX-License-Identifier: MIT
import Foundation

/// Where a download is stored, and how.
///
/// ```swift
/// .download(to: .folder(downloads).existingFile(.number))
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

    package enum Location: Sendable {
        case file(URL)
        case folder(URL)
        case chosen(@Sendable (ResponseHead, String) throws -> URL)
    }

    package let location: Location
    private(set) var existingFile = ExistingFile.replace
    /// Whether an interrupted download continues.
    package var isResumable = false
    /// Returns the driver of a download that takes several requests; `nil`: it takes one.
    package var driver: (@Sendable (DownloadDestination) -> any TransferDriver)?
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
