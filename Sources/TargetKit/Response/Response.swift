// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What a call brought back: status, header fields, and the body in memory or in a file.
public struct Response: Sendable {
    /// The status code, 200 for one (RFC 9110 §15).
    public var statusCode: Int
    /// The body; empty when there is none, and when it went to ``file``.
    public var data: Data
    /// Everything that is looked at more seldom, in one place, so that passing a response on costs little.
    private let exchange: Exchange

    private final class Exchange: Sendable {
        let head: ResponseHead
        let request: URLRequest?
        let redirects: [Redirect]
        let file: URL?
        let metrics: TransportMetrics?
        let target: (any TargetType)?
        let body: ResponseBody?
        let decoder: JSONDecoder?
        let isSample: Bool

        init(
            head: ResponseHead,
            request: URLRequest?,
            redirects: [Redirect],
            file: URL?,
            metrics: TransportMetrics?,
            target: (any TargetType)?,
            body: ResponseBody? = nil,
            decoder: JSONDecoder? = nil,
            isSample: Bool = false
        ) {
            self.head = head
            self.request = request
            self.redirects = redirects
            self.file = file
            self.metrics = metrics
            self.target = target
            self.body = body
            self.decoder = decoder
            self.isSample = isSample
        }
    }

    /// A response made by hand, for a test or by a plugin that answers in the server's place.
    public init(
        statusCode: Int,
        data: Data = Data(),
        headers: HTTPHeaders = [:],
        request: URLRequest? = nil,
        file: URL? = nil,
        metrics: TransportMetrics? = nil
    ) {
        self.statusCode = statusCode
        self.data = data
        exchange = Exchange(
            head: ResponseHead(statusCode: statusCode, headers: headers),
            request: request,
            redirects: [],
            file: file,
            metrics: metrics,
            target: nil
        )
    }

    /// - Throws: `URLError(.cannotParseResponse)` when the transport brings a stream that nobody asked for.
    init(
        _ arrival: RedirectFollower.Arrival,
        target: any TargetType,
        decoder: JSONDecoder? = nil,
        isStream: Bool = false
    ) throws {
        let response = arrival.response
        statusCode = response.head.statusCode
        var file: URL?
        var stream: ResponseBody?
        switch response.body {
        case .data(let data): self.data = data
        case .file(let url):
            data = Data()
            file = url
        case .stream(let body):
            guard isStream else { throw URLError(.cannotParseResponse) }
            data = Data()
            stream = body
        }
        exchange = Exchange(
            head: response.head,
            request: arrival.request.urlRequest,
            redirects: arrival.redirects,
            file: file,
            metrics: response.metrics,
            target: target,
            body: stream,
            decoder: decoder,
            isSample: response.isSample
        )
    }

    private init(_ response: Response, target: (any TargetType)?, body: ResponseBody?) {
        statusCode = response.statusCode
        data = response.data
        exchange = Exchange(
            head: response.exchange.head,
            request: response.request,
            redirects: response.redirects,
            file: response.file,
            metrics: response.metrics,
            target: target,
            body: body,
            decoder: response.exchange.decoder,
            isSample: response.isSample
        )
    }

    /// This response as that of another call, which has shared it.
    func of(_ target: any TargetType) -> Response {
        Response(self, target: target, body: body)
    }

    /// This response without the body that has yet to come, so that keeping the one does not keep the other.
    var head: Response {
        Response(self, target: target, body: nil)
    }

    /// The header fields, read from the received bytes each time: keep the list if you look at several.
    public var headers: HTTPHeaders { exchange.head.headers }

    /// The version of HTTP that was spoken, `HTTP/1.1` or `HTTP/2`.
    public var httpVersion: String { exchange.head.httpVersion }

    /// The request that was answered, as it went out: the last one, when redirects were followed.
    public var request: URLRequest? { exchange.request }

    /// The way from the URL that was asked for to the one that answered; empty when that is the same.
    public var redirects: [Redirect] { exchange.redirects }

    /// The file with the body, if the task downloads to a file and the response is an accepted success.
    public var file: URL? { exchange.file }

    /// How long the steps of the exchange took; `nil` when the transport does not measure them.
    public var metrics: TransportMetrics? { exchange.metrics }

    /// Foundation's form of the head, made when it is asked for; `nil` when there is no URL to make it with.
    ///
    /// Repeated fields are joined by `", "`, since Foundation's list has each name once.
    public var httpResponse: HTTPURLResponse? {
        guard let url = request?.url else { return nil }
        return HTTPURLResponse(
            url: url,
            statusCode: statusCode,
            httpVersion: httpVersion,
            headerFields: headers.dictionary
        )
    }

    /// The target of the call, for the errors that are made from this response.
    var target: (any TargetType)? { exchange.target }

    /// What decodes the body: what is named, else the target's decoder, else the provider's, else a plain one.
    func decoder(_ named: JSONDecoder?) -> JSONDecoder {
        .chosen(named, for: target, provider: exchange.decoder)
    }

    /// Whether it is a stub's sample.
    var isSample: Bool { exchange.isSample }

    /// The body of a stream's head, which has yet to come.
    var body: ResponseBody? { exchange.body }
}

extension Response: ReflectsDescription {
    /// Status and size, in one line.
    public var description: String {
        file.map { "HTTP \(statusCode), in \($0.path)" } ?? "HTTP \(statusCode), \(data.count) bytes"
    }
}
