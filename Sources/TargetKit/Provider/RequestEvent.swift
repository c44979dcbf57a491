// SPDX-License-Identifier: MIT

/// What happens to a call until its end.
public enum RequestEvent: Sendable {
    /// More of the request's body has gone out.
    case uploadProgress(TransferProgress)
    /// More of the response's body has come in.
    case downloadProgress(TransferProgress)
    /// The response is there: the last event.
    case response(Response)

    init(_ step: TransferProgress) {
        switch step.direction {
        case .upload: self = .uploadProgress(step)
        case .download: self = .downloadProgress(step)
        }
    }
}
