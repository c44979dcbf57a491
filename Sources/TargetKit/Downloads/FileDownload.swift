// SPDX-License-Identifier: MIT

/// Downloads the response of a call to a file with one request. An existing file is replaced only if the target accepts
/// the response.
struct FileDownload: TransferDriver {
    let destination: DownloadDestination

    func response(to request: URLRequest, over exchanges: CallExchanges) async throws -> Response {
        if exchanges.isStreamed { throw InvalidRequest.streamedDownload }
        try destination.check()
        return try await exchanges.send(exchanges.prepare(request), to: destination)
    }
}

extension CallExchanges {
    /// Downloads the response to a file with one request.
    package func send(_ request: TransportRequest, to destination: DownloadDestination) async throws -> Response {
        let (download, validation) = (try PendingDownload(to: destination), context.target.validation)
        var request = request
        request.destination = .file(download.part)
        do {
            return try await send(request, validation: validation.ofDownload) { [call] result in
                try await download.finish(result, validation: validation, of: call)
            }
        } catch {
            await download.remove()
            throw error
        }
    }
}
