// SPDX-License-Identifier: MIT
import TargetKit

/// The reason why a resumable upload fails, other than a failed exchange.
package enum UploadFailure: Error, Sendable, Hashable {
    /// Another call or process is performing the upload.
    case inProgress
    /// The state can't be stored.
    case noStateFolder(path: String, reason: String)
    /// The file was changed while it was uploaded.
    case fileChanged(path: String)
    /// The content exceeds the server's limit; `limit` is `nil` if the server doesn't state it.
    case tooLarge(length: Int64, limit: Int64?)
    /// The server doesn't support a required feature.
    case unsupported(String)
    /// The server's response violates the protocol.
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
            "another call or process is uploading the same content to the same URL; wait until it ends, or cancel it"
        case .noStateFolder(let path, let reason):
            "the state of the upload can't be stored in \(path.inOneLine): \(reason.inOneLine)"
        case .fileChanged(let path):
            "the file \(path.inOneLine) changed during the upload; upload it again, or upload a copy"
        case .tooLarge(let length, let limit?):
            "the upload has \(length) bytes, which exceeds the server's limit of \(limit) bytes"
        case .tooLarge(let length, nil):
            "the server doesn't accept uploads of \(length) bytes"
        case .unsupported(let reason): "the upload can't be created: \(reason.inOneLine)"
        case .invalidResponse(let reason): "the server's response to the upload is invalid: \(reason.inOneLine)"
        case .lost(let reason): "the server no longer has the upload: \(reason.inOneLine)"
        }
    }
}
