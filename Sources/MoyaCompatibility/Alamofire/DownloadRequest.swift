// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

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

    /// Chooses the place of a downloaded file.
    public typealias Destination = (
        _ temporaryURL: URL, _ response: HTTPURLResponse
    ) -> (destinationURL: URL, options: Options)

    /// Returns a destination in a folder of the user, with the name that the server suggests.
    ///
    /// On Apple's systems the name is the response's `suggestedFilename`. On Linux it is that of `Content-Disposition`
    /// (RFC 6266), else the last component of the URL, else `download`, without characters that aren't safe in a name.
    ///
    /// - Parameters:
    ///   - directory: The folder; default: the documents.
    ///   - domain: The domain of the folder; default: the user's.
    ///   - options: How the destination is prepared; default: not at all.
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

/// Chooses the place of a downloaded file.
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
    /// The file that a destination of Moya chooses.
    ///
    /// The destination receives the URL of a temporary file that doesn't exist: the body is moved to its place once it
    /// is complete and accepted.
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
