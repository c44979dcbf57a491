// SPDX-License-Identifier: MIT

/// The requests of a call that a server may have processed.
struct Processing: Sendable {
    /// The number of exchanges after which a request that must not be sent twice may have been processed.
    var count = 0
    /// Whether another call can continue the transfer, or restart it safely.
    var isContinuable = false
}

extension Call {
    /// Notes whether the server may have processed a request that must not be sent twice. It can't have if it redirects
    /// the unchanged request (RFC 9110 §15.4.8 and §15.4.9), or rejects the request (4xx, apart from the statuses that
    /// can be temporary).
    func noteProcessing(of request: TransportRequest, status: Int) {
        if !request.urlRequest.isRepeatable(), !Self.isUnprocessed(status) { handle.noteProcessing() }
    }

    /// Notes the same after a failure. The server can't have processed the request if no connection to the request's
    /// URL was made.
    func noteProcessing(of request: TransportRequest, failure error: any Error) {
        if request.urlRequest.isRepeatable() { return }
        let isUnsent = (error as? URLError).map {
            ConnectionFailure.isUnsent($0.code) && !$0.isElsewhere(than: request.urlRequest.url)
        }
        if isUnsent != true { handle.noteProcessing() }
    }

    /// Records in the error of a failed call whether the call may be made again.
    func notingRepeatability(of result: Result<Response, TargetKitError>) -> Result<Response, TargetKitError> {
        guard case .failure(var error) = result else { return result }
        let processing = handle.processing
        var count = processing.count
        // The server rejected the credential in the body, so it didn't process the request.
        if count > 0, error.kind == .unauthorized, let response = error.response,
            !Self.isUnprocessed(response.statusCode), response.request?.isRepeatable() == false
        {
            count -= 1
        }
        let isRepeatable = count == 0 || processing.isContinuable
        if isRepeatable { error.marks.insert(.repeatable) } else { error.marks.remove(.repeatable) }
        return .failure(error)
    }

    /// Whether a server that responds with the status hasn't processed the request.
    private static func isUnprocessed(_ status: Int) -> Bool {
        switch status {
        case 307, 308: true
        case 400...499: !RetryAfter.statuses.contains(status)
        default: false
        }
    }
}
