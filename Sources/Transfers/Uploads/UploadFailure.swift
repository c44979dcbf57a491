// SPDX-License-Identifier: MIT
import TargetKit

/// The reason why a resumable upload doesn't succeed, apart from failed exchanges.
package enum UploadFailure: Error, Sendable, Hashable {
    /// Another call or process has the upload.
    case inProgress
    /// The state can't be stored.
    case noStateFolder(path: String, reason: String)
    /// The file was changed while it was uploaded.
    case fileChanged(path: String)
    /// The server doesn't accept as many bytes; `limit` is `nil` if it doesn't say how many.
    case tooLarge(length: Int64, limit: Int64?)
    /// The server doesn't support what is needed.
    case unsupported(String)
    /// The server's response contradicts the protocol.
    case invalidResponse(String)
    /// The server no longer has the upload.
    case lost(String)
}

extension UploadFailure: ErrorWithKind, ReflectsDescription {
    package var kind: TargetKitError.Kind? {
        switch self {
        case .inProgress: .conflict
        case .noStateFolder(_, let reason): Self.fullStorage.contains(reason) ? .storageFull : .invalidRequest
        case .fileChanged: .unreadableFile
        case .tooLarge, .unsupported: .client
        case .invalidResponse: .server
        case .lost: .notFound
        }
    }

    /// The system's messages for a full disk and an exhausted quota.
    private static let fullStorage = [ENOSPC, EDQUOT].map { String(cString: strerror($0)) }

    /// The reason in one line.
    package var description: String {
        switch self {
        case .inProgress:
            "another call or process is uploading the same content to the same URL: wait until it ends, or cancel it"
        case .noStateFolder(let path, let reason):
            "the state of the upload cannot be stored in \(path.inOneLine): \(reason.inOneLine)"
        case .fileChanged(let path):
            "the file \(path.inOneLine) was changed while it was uploaded: upload it again, or a copy that does not change"
        case .tooLarge(let length, let limit?):
            "the server accepts uploads of up to \(limit) bytes, and this one has \(length)"
        case .tooLarge(let length, nil):
            "the server does not accept an upload of \(length) bytes"
        case .unsupported(let reason): "the upload cannot be created: \(reason.inOneLine)"
        case .invalidResponse(let reason): "the server's response is not valid for an upload: \(reason.inOneLine)"
        case .lost(let reason): "the server no longer has the upload: \(reason.inOneLine)"
        }
    }
}
