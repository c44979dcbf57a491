// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The responses of a background session that no call has received yet, because the app was not running when they
/// arrived.
struct BackgroundResponses: Sendable {
    private struct Head: Codable {
        var status: Int
        var fields: [[String]]
    }

    /// After this time, a response that no call has asked for is removed.
    private static let lifetime: TimeInterval = 7 * 24 * 3600

    private let folder: URL

    /// - Parameter folder: Created if it is missing, with mode 0700.
    init(in folder: URL) {
        self.folder = folder
        try? PrivateFolder.create(folder)
    }

    /// Identifies a request, also after a launch: two requests with the same method, URL and body are the same
    /// transfer.
    static func key(of request: TransportRequest) throws -> String {
        var hasher = SHA256Hasher()
        let method = request.urlRequest.httpMethod ?? "GET"
        let url = request.urlRequest.url?.absoluteString ?? ""
        Data("\(method)\n\(url)\n".utf8).withUnsafeBytes { hasher.update($0) }
        switch request.body {
        case .none: break
        case .file(let url): Data(url.absoluteString.utf8).withUnsafeBytes { hasher.update($0) }
        case .data, .stream: try request.body.source()?.readAll { hasher.update($0) }
        }
        return MessageDigest.hexadecimal(hasher.finalize())
    }

    /// A file of a transfer: `body` for its response, `request` for the body that is sent, `resume` for what the system
    /// needs to continue a download.
    func file(_ kind: String, of key: String) -> URL { folder.appendingPathComponent("\(key).\(kind)") }

    /// Stores the head of a response, whose body is in its file already. Before that, there is no response.
    func store(_ head: ResponseHead, of key: String) throws {
        let stored = Head(status: head.statusCode, fields: head.headers.map { [$0.name.rawValue, $0.value] })
        try AtomicFile(file("head", of: key)).write(JSONEncoder().encode(stored))
    }

    /// Moves a response to the destination of a request; returns `nil` if there is none.
    func take(_ key: String, to destination: TransportRequest.Destination) throws -> TransportResponse? {
        let document = AtomicFile(file("head", of: key))
        guard let data = try document.read(), let stored = try? JSONDecoder().decode(Head.self, from: data) else {
            return nil
        }
        defer {
            try? document.remove()
            unlink(file("body", of: key).path)
        }
        let headers = HTTPHeaders(
            stored.fields.compactMap {
                $0.count == 2 ? HTTPHeaders.Field(name: HTTPHeaderName(rawValue: $0[0]), value: $0[1]) : nil
            }
        )
        let head = ResponseHead(statusCode: stored.status, headers: headers)
        return TransportResponse(head: head, body: try body(of: key, to: destination))
    }

    private func body(of key: String, to destination: TransportRequest.Destination) throws -> TransportResponse.Body {
        let body = file("body", of: key)
        switch destination {
        case .memory(let limit):
            guard let size = FileStatus(of: body)?.size else { return .data(Data()) }
            guard size <= Int64(limit) else { throw URLError(.dataLengthExceedsMaximum) }
            return .data(try Data(contentsOf: body))
        case .file(let url):
            if FileStatus(of: body) == nil { try Data().write(to: body) }
            do throws(PartialFile.Failure) {
                if rename(body.path, url.path) != 0 { try PartialFile.copy(body, to: url) }
            } catch {
                throw URLError(error)
            }
            return .file(url)
        case .stream:
            throw URLError(.unsupportedURL, userInfo: [FailureMark.cannotStream: true])
        }
    }

    /// Removes what belongs to a transfer that was abandoned.
    func remove(_ key: String) {
        for kind in ["head", "body", "request", "resume"] { unlink(file(kind, of: key).path) }
    }

    /// Removes old files that no call has asked for.
    func removeOld(now: Date = Date()) {
        let keys: Set<URLResourceKey> = [.contentModificationDateKey]
        let files = try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: Array(keys))
        for file in files ?? [] {
            guard let date = try? file.resourceValues(forKeys: keys).contentModificationDate,
                now.timeIntervalSince(date) > Self.lifetime
            else { continue }
            unlink(file.path)
        }
    }
}
