// SPDX-License-Identifier: MIT

/// The reason why a download doesn't produce its file.
package enum DownloadFailure: Error, Sendable, Hashable {
    /// A file exists at the destination and must not be replaced.
    case fileExists(path: String)
    /// The partial file can't be continued, so the next attempt begins at the first byte.
    case mustRestart(reason: String)
    /// The server sent only a part of the requested range, so the next attempt requests the rest.
    case isIncomplete(receivedByteCount: Int64)
}

extension DownloadFailure: ErrorWithKind, RedactedDescription {
    package var kind: TargetKitError.Kind? {
        switch self {
        case .fileExists: .conflict
        case .mustRestart, .isIncomplete: .connectionLost
        }
    }

    /// The reason in one line.
    var redactedDescription: String {
        switch self {
        case .fileExists(let path): "the file \(path.inOneLine) already exists and isn't replaced"
        case .mustRestart(let reason): "the download can't be continued: \(reason)"
        case .isIncomplete: "the server sent only a part of the requested range"
        }
    }
}
