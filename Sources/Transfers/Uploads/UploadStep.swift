// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One request of a resumable upload.
struct UploadStep: Sendable {
    enum Kind: Sendable, Hashable {
        /// Asks what the server supports.
        case discover
        /// Deletes an upload of an older version of the content.
        case delete
        case create
        /// Asks for the number of bytes that the server has.
        case query
        case append
        /// Sends the whole content in one request, without a protocol.
        case plain
    }

    let kind: Kind
    /// The request before plugins prepare it.
    var request: URLRequest
    /// The fields of the protocol, which plugins can't change.
    var fields: HTTPHeaders = [:]
    /// The content to send; `nil` for the body of the endpoint.
    var body: TransportRequest.Body? = TransportRequest.Body.none
    /// The position of the content that is sent.
    var range: Range<Int64> = 0..<0
    /// Whether the request is the last one, if it succeeds.
    var isCompleting = false
    /// Whether the URL is on another origin than the one that the upload was created at.
    var isCrossOrigin = false
    let session: UploadSession

    /// Whether the URL is that of the upload.
    private var isToUpload: Bool { kind == .query || kind == .append || kind == .delete }

    /// The request as plugins have prepared it, without what they must not change or send to the upload's URL.
    func restricted(_ prepared: URLRequest, secretNames: Set<HTTPHeaderName>) -> URLRequest {
        guard kind != .plain else { return prepared }
        var request = prepared
        if request.httpMethod != self.request.httpMethod { request.httpMethod = self.request.httpMethod }
        if isToUpload, let url = self.request.url, isCrossOrigin || prepared.url?.isSameResource(as: url) != true {
            // A plugin that moves calls to another server, or adds a key to the query.
            request.url = url
        }
        var headers = request.allHTTPHeaderFields ?? [:]
        headers = headers.filter { name, _ in
            let name = HTTPHeaderName(rawValue: name)
            // The server would answer the second request with its response to the first one.
            if name == .idempotencyKey { return session.isOneRequest(self) }
            if fields.contains(name) { return false }
            return !isCrossOrigin || !(name == .host || HeaderRedaction(secretNames: secretNames).isSecret(name))
        }
        for field in fields.fields { headers[field.name.rawValue] = field.value }
        request.allHTTPHeaderFields = nil
        request.allHTTPHeaderFields = headers
        return request
    }

    /// The progress of the whole upload.
    func progress(
        _ report: (@Sendable (TransferProgress) -> Void)?
    ) -> (@Sendable (TransferProgress) -> Void)? {
        guard kind != .plain else { return report }
        guard !range.isEmpty else { return nil }
        let (start, length) = (range.lowerBound, session.length)
        return { step in
            guard step.direction == .upload else { return isCompleting ? report?(step) ?? () : () }
            let end = min(start + step.completed, length)
            report?(TransferProgress(completed: end, total: length, direction: .upload))
        }
    }
}

extension URL {
    /// Whether both URLs differ only in their queries.
    fileprivate func isSameResource(as other: URL) -> Bool {
        origin == other.origin && path(percentEncoded: true) == other.path(percentEncoded: true)
    }
}

/// What a response means for an upload.
enum UploadOutcome: Sendable, Equatable {
    /// The server supports the protocol.
    case supported(UploadSupport)
    /// The server doesn't support the protocol.
    case notSupported
    /// The upload exists at a URL, and has a number of bytes; `nil`: unknown.
    case created(location: String, offset: Int64?, limits: UploadLimits, expiry: Date?)
    /// The old upload is deleted, or can't be.
    case deleted
    /// The server has a number of bytes.
    case stored(offset: Int64, limits: UploadLimits, expiry: Date?)
    /// The server has to be asked how much it has.
    case unknownOffset(limits: UploadLimits)
    /// The server doesn't have the upload.
    case gone
    /// What was sent has another checksum than was announced.
    case damaged
    /// The upload is complete, and the response is the caller's.
    case complete
    /// A response that is an error of this exchange.
    case refused
    case failed(UploadFailure)
}

/// What a server supports.
struct UploadSupport: Sendable, Equatable {
    var createsWithContent = false
    var checksum: UploadChecksum?
    var limits = UploadLimits()
}

/// The response to a step, as the protocols read it.
struct UploadResponse: Sendable {
    let status: Int
    let headers: HTTPHeaders
    let data: Data

    init(_ response: TransportResponse) {
        status = response.head.statusCode
        headers = response.head.headers
        if case .data(let data) = response.body { self.data = data } else { data = Data() }
    }

    var isSuccess: Bool { (200...299).contains(status) }

    /// Whether the same request can succeed later, or with other credentials.
    var isTransient: Bool {
        [401, 407, 408, 421, 423, 425, 429].contains(status) || status >= 500 && status != 501
    }

    /// Whether the server refuses the request, and refuses it again later.
    var isFinal: Bool { (400...499).contains(status) && !isTransient }
}
