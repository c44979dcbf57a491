// SPDX-License-Identifier: MIT

/// The reason why a download does not end with its file in place.
package enum DownloadFailure: Error, Sendable, Hashable {
    /// There is a file at the destination, which is to be kept.
    case fileExists(path: String)
    /// What there was of the file cannot be continued, and the next attempt begins at the first byte.
    case mustRestart(reason: String)
    /// The server has sent a part of what was requested, and the next attempt requests the rest.
    case isIncomplete(receivedByteCount: Int64)
}

extension DownloadFailure: ErrorWithKind, ReflectsDescription {
    package var kind: TargetKitError.Kind? {
        switch self {
        case .fileExists: .conflict
        case .mustRestart, .isIncomplete: .connectionLost
        }
    }

    /// The reason in one line.
    package var description: String {
        switch self {
        case .fileExists(let path): "the file \(path.inOneLine) exists already and is kept"
        case .mustRestart(let reason): "the download cannot be continued: \(reason)"
        case .isIncomplete: "the server has sent only a part of the requested range"
        }
    }
}
