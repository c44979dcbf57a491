// SPDX-License-Identifier: MIT
import TargetKit

/// One request of a resumable upload.
struct UploadStep: Sendable {
    enum Kind: Sendable, Hashable {
        /// Requests the features of the server.
        case discover
        /// Deletes the upload of an older version of the content.
        case delete
        case create
        /// Requests the server's offset.
        case query
        case append
        /// Sends the whole content in one plain request.
        case plain
    }

    let kind: Kind
    /// The request, before plugins prepare it.
    var request: URLRequest
    /// The fields of the protocol, which plugins can't change.
    var fields: HTTPHeaders = [:]
    /// The content to send; `nil` for the body of the endpoint.
    var body: TransportRequest.Body? = TransportRequest.Body.none
    /// The range of the content that is sent.
    var range: Range<Int64> = 0..<0
    /// Whether the request is the last one, if it succeeds.
    var isCompleting = false
    /// Whether the URL is on another origin than the one at which the upload was created.
    var isCrossOrigin = false
    let session: UploadSession

    /// Whether the request is for the URL of the upload.
    private var isToUpload: Bool { kind == .query || kind == .append || kind == .delete }

    /// The request that plugins prepared, without changes and fields that aren't allowed for the upload's URL.
    func restricted(_ prepared: URLRequest, secretNames: Set<HTTPHeaderName>) -> URLRequest {
        guard kind != .plain else { return prepared }
        var request = prepared
        if request.httpMethod != self.request.httpMethod { request.httpMethod = self.request.httpMethod }
        if isToUpload, let url = self.request.url, isCrossOrigin || prepared.url?.isSameResource(as: url) != true {
            // A plugin may redirect calls to another server, or add a key to the query.
            request.url = url
        }
        var headers = request.allHTTPHeaderFields ?? [:]
        headers = headers.filter { name, _ in
            let name = HTTPHeaderName(rawValue: name)
            // With the key, the server would respond to the second request with its response to the first one.
            if name == .idempotencyKey { return session.isOneRequest(self) }
            if fields.contains(name) { return false }
            return !isCrossOrigin || !HeaderRedaction(secretNames: secretNames).isForOneOrigin(name)
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
    /// Whether the URLs differ at most in their queries.
    fileprivate func isSameResource(as other: URL) -> Bool {
        origin == other.origin && path(percentEncoded: true) == other.path(percentEncoded: true)
    }
}

/// The outcome of a step of an upload.
enum UploadOutcome: Sendable, Equatable {
    /// The server supports the protocol.
    case supported(UploadSupport)
    /// The server doesn't support the protocol.
    case notSupported
    /// The upload exists at a URL. The offset is `nil` if it is unknown.
    case created(location: String, offset: Int64?, limits: UploadLimits, expiry: Date?)
    /// The old upload is deleted, or can't be deleted.
    case deleted
    /// The server has a number of bytes.
    case stored(offset: Int64, limits: UploadLimits, expiry: Date?)
    /// The server's offset must be requested.
    case unknownOffset(limits: UploadLimits)
    /// The server doesn't have the upload.
    case gone
    /// The checksum of the sent bytes doesn't match.
    case damaged
    /// The upload is complete, and the response is the caller's.
    case complete
    /// The response is an error of this exchange.
    case refused
    case failed(UploadFailure)
}

/// The features that a server supports.
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

    /// Whether the server permanently rejects the request.
    var isFinal: Bool { (400...499).contains(status) && !isTransient }
}
