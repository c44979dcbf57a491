// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension TargetKit.DownloadDestination {
    /// The file that a destination of Moya chooses.
    ///
    /// The destination receives the URL of a temporary file that does not exist: the body is moved to its place once it
    /// is complete and accepted.
    static func choosing(_ destination: @escaping DownloadDestination, for url: URL) -> TargetKit.DownloadDestination {
        let destination = Unchecked(destination)
        return .choose { head, name in
            let temporary = FileManager.default.temporaryDirectory
                .appendingPathComponent("TargetKitMoya-\(UUID().uuidString)-\(name)")
            guard
                let response = HTTPURLResponse(
                    url: url,
                    statusCode: head.statusCode,
                    httpVersion: "HTTP/\(head.httpVersion)",
                    headerFields: head.headers.dictionary
                )
            else { throw URLError(.badServerResponse) }
            let (file, options) = destination.value(temporary, response)
            guard options.contains(.removePreviousFile) || !FileManager.default.fileExists(atPath: file.path) else {
                let error = CocoaError(.fileWriteFileExists, userInfo: [NSFilePathErrorKey: file.path])
                throw AFError.downloadedFileMoveFailed(error: error, source: temporary, destination: file)
            }
            return file
        }
    }
}
