// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Downloads the response of a call to a file with one request. An existing file is replaced only if the target accepts
/// the response.
struct FileDownload: TransferDriver {
    let destination: DownloadDestination

    func response(to request: URLRequest, over exchanges: CallExchanges) async throws -> Response {
        if exchanges.call.delivery.isStream { throw InvalidRequest.streamedDownload }
        try DownloadPlace(destination).check()
        return try await exchanges.send(exchanges.prepare(request), to: destination)
    }
}

extension CallExchanges {
    /// Downloads the response to a file with one request.
    package func send(_ request: TransportRequest, to destination: DownloadDestination) async throws -> Response {
        try await send(request) { [target] call, request in
            try await call.download(request, to: destination, from: target)
        }
    }
}

extension Call {
    /// Downloads the response to a file.
    package func download(
        _ request: TransportRequest,
        to destination: DownloadDestination,
        from target: Resolved
    ) async throws -> Response {
        let download = PendingDownload(to: destination)
        var request = request
        request.destination = .file(download.part)
        let result = try await transfer(request, to: target)
        try checkCancellation()
        let validation = context.target.validation
        let ended = try await cancellable { [handle] in try await download.end(result, validation, of: handle) }
        return try response(ended, validation.ofDownload)
    }
}
