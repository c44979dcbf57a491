// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Uploads a file as S3's multipart upload does: create, parts, complete; and abort if the call fails.
///
/// ```swift
/// var method: HTTPMethod { .put }
/// var task: HTTPTask { .plain.driver(S3MultipartUpload(of: film)) }
/// ```
///
/// It shows what a driver is for. Each request is signed by the provider's plugins and sent within the call, several
/// parts at the same time. Another attempt of the call sends only the parts that are missing.
///
/// https://docs.aws.amazon.com/AmazonS3/latest/userguide/mpuoverview.html
public struct S3MultipartUpload: TransferDriver {
    private let file: URL
    private let partSize: Int
    private let maxConcurrent: Int

    /// Creates a driver.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - partSize: The size of the parts but the last one, in bytes; default: 8 MiB. S3 requires 5 MiB.
    ///   - maxConcurrent: How many parts are sent at the same time, each from memory; default: 3.
    public init(of file: URL, partSize: Int = 8 << 20, maxConcurrent: Int = 3) {
        self.file = file
        self.partSize = max(1, partSize)
        self.maxConcurrent = max(1, maxConcurrent)
    }

    /// What the server has, kept between the attempts of the call.
    private struct Upload: Sendable {
        let id: String
        /// The request of the call.
        let request: URLRequest
        /// The entity tags of the parts that were sent, by their numbers from 1.
        var tags: [Int: String] = [:]
    }

    private enum UploadKey: RequestContextKey { typealias Value = Upload }

    /// Sends the file, and returns the response to the request that completes the upload.
    public func response(to request: URLRequest, over exchanges: CallExchanges) async throws -> Response {
        if exchanges.isStubbed { return try await exchanges.send(request) }
        var upload = try await upload(request, exchanges)
        try await send(&upload, request, exchanges)
        let response = try await exchanges.send(
            request.with("POST", ["uploadId": upload.id]),
            body: .data(Data(Self.completion(upload.tags).utf8))
        )
        exchanges.context[UploadKey.self] = nil
        return response
    }

    /// Aborts an upload that is not complete: S3 keeps its parts, and charges for them.
    public func end(_ result: Result<Response, TargetKitError>, over exchanges: CallExchanges) async {
        guard let upload = exchanges.context[UploadKey.self] else { return }
        exchanges.sendInBackground(upload.request.with("DELETE", ["uploadId": upload.id]))
    }

    private func upload(_ request: URLRequest, _ exchanges: CallExchanges) async throws -> Upload {
        if let known = exchanges.context[UploadKey.self] { return known }
        let response = try await exchanges.send(request.with("POST", ["uploads": nil]), body: .none)
        guard let id = try response.string().text(between: "<UploadId>", "</UploadId>") else {
            throw S3Error.noUploadID
        }
        let upload = Upload(id: id, request: request)
        exchanges.context[UploadKey.self] = upload
        return upload
    }

    private func send(_ upload: inout Upload, _ request: URLRequest, _ exchanges: CallExchanges) async throws {
        let size = try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int ?? 0
        let count = max(1, (size + partSize - 1) / partSize)
        var missing = (1...count).filter { upload.tags[$0] == nil }[...]
        let (id, parts) = (upload.id, exchanges.concurrent())
        try await withThrowingTaskGroup(of: (Int, String).self) { group in
            for number in missing.prefix(maxConcurrent) { add(number) }
            missing = missing.dropFirst(maxConcurrent)
            func add(_ number: Int) {
                group.addTask {
                    let body = TransportRequest.Body.data(try part(number))
                    let put = request.with("PUT", ["partNumber": "\(number)", "uploadId": id])
                    let response = try await parts.send(put, body: body)
                    guard let tag = response.headers["ETag"] else { throw S3Error.noEntityTag(part: number) }
                    return (number, tag)
                }
            }
            for try await (number, tag) in group {
                upload.tags[number] = tag
                exchanges.context[UploadKey.self] = upload
                let sent = Int64(min(size, upload.tags.count * partSize))
                exchanges.progress?(TransferProgress(completed: sent, total: Int64(size), direction: .upload))
                if let next = missing.popFirst() { add(next) }
            }
        }
    }

    private func part(_ number: Int) throws -> Data {
        let handle = try FileHandle(forReadingFrom: file)
        defer { try? handle.close() }
        try handle.seek(toOffset: UInt64((number - 1) * partSize))
        return try handle.read(upToCount: partSize) ?? Data()
    }

    private static func completion(_ tags: [Int: String]) -> String {
        let parts = tags.sorted { $0.key < $1.key }.map { number, tag in
            "<Part><PartNumber>\(number)</PartNumber><ETag>\(tag)</ETag></Part>"
        }
        return "<CompleteMultipartUpload>\(parts.joined())</CompleteMultipartUpload>"
    }
}

/// A response that is not one of S3.
public enum S3Error: Error, Sendable, Hashable {
    /// The response to the first request has no `UploadId`.
    case noUploadID
    /// The response to a part has no `ETag`.
    case noEntityTag(part: Int)
}

extension URLRequest {
    /// The request with another method, and with items added to its query.
    fileprivate func with(_ method: String, _ items: KeyValuePairs<String, String?>) -> URLRequest {
        var request = self
        request.httpMethod = method
        request.httpBody = nil
        request.url?.append(queryItems: items.map { URLQueryItem(name: $0.key, value: $0.value) })
        return request
    }
}

extension String {
    fileprivate func text(between start: String, _ end: String) -> String? {
        guard let first = range(of: start), let last = range(of: end, range: first.upperBound..<endIndex) else {
            return nil
        }
        return String(self[first.upperBound..<last.lowerBound])
    }
}
