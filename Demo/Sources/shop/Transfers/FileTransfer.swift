// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTransfers

/// A file that goes to a server, or comes from one.
enum FileTransfer: TargetType, Codable {
    case download(URL, into: URL)
    case upload(URL, to: URL)

    /// The whole URL is the base URL, and the path is empty.
    var baseURL: URL {
        switch self {
        case .download(let source, _): source
        case .upload(_, let server): server
        }
    }

    var path: RequestPath { "" }

    var method: HTTPMethod {
        switch self {
        case .download: .get
        case .upload: .post
        }
    }

    /// Both continue where the last run of the program has stopped.
    var task: HTTPTask {
        switch self {
        case .download(_, let folder): .download(to: .folder(folder).resumable)
        case .upload(let file, _): .upload(file: file).resumable(.tus.metadata(metadata(of: file)))
        }
    }

    /// What tus servers usually ask for.
    private func metadata(of file: URL) -> [String: String] {
        ["filename": file.lastPathComponent, "filetype": "application/octet-stream"]
    }

    /// What the person calls it.
    var name: String {
        switch self {
        case .download(let source, _): source.lastPathComponent
        case .upload(let file, _): file.lastPathComponent
        }
    }
}
