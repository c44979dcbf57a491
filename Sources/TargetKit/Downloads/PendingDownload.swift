// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The body of a response that has not been accepted yet, in a temporary file beside its destination. The file is
/// removed when the object is deallocated.
final class PendingDownload: Sendable {
    /// The number of bytes of a rejected body that are kept in memory: 1 MiB, more than any typical error body.
    static let excerptSize = 1 << 20

    /// The temporary file.
    let part: URL
    private let destination: DownloadDestination

    init(to destination: DownloadDestination) {
        self.destination = destination
        let place = DownloadPlace(destination)
        part = place.part
        if let replaced = place.replacedFile { PartialFile.reserve(part, replacing: replaced) }
    }

    deinit {
        unlink(part.path)
    }

    /// Moves the body to its destination if the response is an accepted success (RFC 9110 §15.3). Otherwise leaves the
    /// destination unchanged, and returns the response with the first bytes of its body in memory.
    func end(_ result: ExchangeResult, _ validation: StatusValidation) async throws -> ExchangeResult {
        var result = result
        let response = result.response
        guard case .file(let received) = response.body else { return result }
        // Otherwise the empty file that holds the place would replace the user's.
        guard received == part else { throw URLError(.cannotParseResponse) }
        let status = response.head.statusCode
        guard (200...299).contains(status), validation.accepts(status) else {
            result.response.body = .data(excerpt)
            return result
        }
        let file = DownloadedFile(part: part, head: response.head, headers: response.head.headers, contentStart: 0)
        do {
            result.response.body = .file(try await file.complete(at: destination, from: result.request.urlRequest.url))
        } catch let error as DownloadedFile.Mismatch {
            throw URLError.unusable(error.description)
        }
        return result
    }

    /// The first bytes of the body; empty if they cannot be read.
    private var excerpt: Data {
        guard let opened = try? OpenedFile(path: part.path), let size = try? opened.size() else { return Data() }
        var data = Data(count: Int(min(size, Int64(Self.excerptSize))))
        let count = data.withUnsafeMutableBytes { buffer in try? opened.fill(buffer) }
        return data.prefix(count ?? 0)
    }
}
