// SPDX-License-Identifier: MIT

/// The location and the rules for storing a download.
///
/// ```swift
/// .download(to: .folder(downloads).existingFile(.number))
/// .download(to: .choose { head, name in folder.appendingPathComponent("\(Date.now.timeIntervalSince1970) \(name)") })
/// ```
///
/// The file appears at its destination only when the body is complete and the response is an accepted success. Missing
/// folders are created. On iOS, tvOS, watchOS and visionOS, the file is protected until the first unlock after a restart
/// (`FileProtectionType.completeUntilFirstUserAuthentication`), so that a download continues while the device is locked.
///
/// TargetKitTransfers verifies checksums, and continues interrupted downloads.
public struct DownloadDestination: Sendable {
    /// The behavior when a file already exists at the destination.
    public enum ExistingFile: Sendable, Hashable {
        /// The download replaces the file. The new file has the old file's permissions.
        case replace
        /// The call fails and the file is unchanged. ``TargetKitError/kind`` is `.conflict`. If the name is known in
        /// advance, no request is sent.
        case keep
        /// The download has the next unused name, such as `report 2.pdf` or `report 3.pdf`.
        case number
    }

    enum Location: Sendable {
        case file(URL)
        case folder(URL)
        case chosen(@Sendable (ResponseHead, String) throws -> URL)
    }

    let location: Location
    private(set) var existingFile = ExistingFile.replace
    /// Whether an interrupted download continues.
    package var isResumable = false
    /// Identifies the file of a resumable download; `nil` if the URL of the request does.
    package var identifier: String?
    /// Returns the driver of a download with several requests; `nil` for a download with one request.
    package var driver: (@Sendable (DownloadDestination) -> any TransferDriver)?
    /// Checks the complete file.
    package var fileCheck: (any DownloadedFileCheck)?

    private init(_ location: Location) {
        self.location = location
    }

    /// A file.
    ///
    /// An existing destination must be a regular file or a symbolic link to a regular file. Otherwise, the call fails
    /// without sending a request. This includes a broken link, and a link that the system doesn't follow because
    /// another user created it in a shared folder.
    public static func file(_ url: URL) -> DownloadDestination { Self(.file(url)) }

    /// A file in a folder, with a name from the server.
    ///
    /// The name is from `Content-Disposition` (RFC 6266), or else the last component of the response's URL, or else
    /// `download`. Path components, control characters and reserved names are removed, so the file is always in the
    /// folder. A symbolic link with this name is replaced, not followed.
    public static func folder(_ url: URL) -> DownloadDestination { Self(.folder(url)) }

    /// A file that a closure chooses when the body is complete.
    ///
    /// - Parameter choose: Returns the file URL. Receives the head of the response and the name that ``folder(_:)``
    ///   would use. An error fails the call.
    public static func choose(
        _ choose: @escaping @Sendable (_ head: ResponseHead, _ suggestedName: String) throws -> URL
    ) -> DownloadDestination {
        Self(.chosen(choose))
    }

    /// Returns this destination with a rule for an existing file; default: ``ExistingFile/replace``.
    public func existingFile(_ rule: ExistingFile) -> DownloadDestination {
        var destination = self
        destination.existingFile = rule
        return destination
    }
}

extension DownloadDestination: RedactedDescription {
    /// The file or folder.
    var redactedDescription: String {
        switch location {
        case .file(let url): "the file \(url.path)"
        case .folder(let url): "the folder \(url.path)"
        case .chosen: "a chosen file"
        }
    }
}
