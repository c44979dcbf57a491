// SPDX-License-Identifier: MIT
import TargetKit

/// The names around downloads: `DownloadRequest.Options`, `DownloadRequest.Destination`, and the suggested destination.
public enum DownloadRequest {
    /// How the destination is prepared.
    public struct Options: OptionSet, Sendable {
        /// The bits of the options.
        public let rawValue: Int
        /// Missing folders are created. They are created without this option, too.
        public static let createIntermediateDirectories = Options(rawValue: 1 << 0)
        /// A file at the destination is replaced. Without this option the call fails.
        public static let removePreviousFile = Options(rawValue: 1 << 1)

        /// Creates options.
        public init(rawValue: Int) {
            self.rawValue = rawValue
        }
    }

    /// Chooses the destination of a downloaded file.
    public typealias Destination = (
        _ temporaryURL: URL, _ response: HTTPURLResponse
    ) -> (destinationURL: URL, options: Options)

    /// Returns a destination in a folder of the user, with the server's suggested name.
    ///
    /// On Apple's systems, the name is the response's `suggestedFilename`. On Linux, it is the name in
    /// `Content-Disposition` (RFC 6266), or else the last component of the URL, or else `download`, without characters
    /// that aren't safe in a file name.
    ///
    /// - Parameters:
    ///   - directory: The folder; default: the documents.
    ///   - domain: The domain of the folder; default: the user's.
    ///   - options: The options for preparing the destination; default: none.
    public static func suggestedDownloadDestination(
        for directory: FileManager.SearchPathDirectory = .documentDirectory,
        in domain: FileManager.SearchPathDomainMask = .userDomainMask,
        options: Options = []
    ) -> Destination {
        { temporaryURL, response in
            let folder = FileManager.default.urls(for: directory, in: domain).first
            return (folder?.appendingPathComponent(response.fileName) ?? temporaryURL, options)
        }
    }
}

/// Chooses the destination of a downloaded file.
public typealias DownloadDestination = DownloadRequest.Destination

extension HTTPURLResponse {
    /// The name for a file with the response's body.
    fileprivate var fileName: String {
        #if canImport(FoundationNetworking)
        // Foundation suggests `Unknown` for each response there.
        let disposition = value(forHTTPHeaderField: "Content-Disposition").flatMap(ContentDisposition.fileName(in:))
        return disposition ?? url.flatMap { SafeFileName.make($0.lastPathComponent) } ?? "download"
        #else
        return suggestedFilename ?? "download"
        #endif
    }
}

extension TargetKit.DownloadDestination {
    /// Returns the destination that a Moya destination chooses.
    ///
    /// The Moya destination receives the URL of a temporary file that doesn't exist, because the complete body is moved
    /// directly to its destination.
    static func choosing(_ destination: @escaping DownloadDestination, for url: URL) -> TargetKit.DownloadDestination {
        let destination = Unchecked(destination)
        return .choose { head, name in
            let temporary = FileManager.default.temporaryDirectory
                .appendingPathComponent("TargetKitMoya-\(UUID().uuidString)-\(name)")
            let request = URLRequest(url: url)
            let response = TargetKit.Response(statusCode: head.statusCode, headers: head.headers, request: request)
            guard let response = response.httpResponse else { throw URLError(.badServerResponse) }
            let (file, options) = destination.value(temporary, response)
            guard options.contains(.removePreviousFile) || !FileManager.default.fileExists(atPath: file.path) else {
                let error = CocoaError(.fileWriteFileExists, userInfo: [NSFilePathErrorKey: file.path])
                throw AFError.downloadedFileMoveFailed(error: error, source: temporary, destination: file)
            }
            return file
        }
    }
}
