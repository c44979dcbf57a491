// SPDX-License-Identifier: MIT
import TargetKit

/// Compresses the bodies of requests, and sends them as they are to servers that refuse the coding.
///
/// ```swift
/// let provider = Provider<Reports>(plugins: [BodyCompressionPlugin()])
/// _ = try await provider.request(.photo(data), options: .setting(\.bodyCompression, BodyCompression.none))
/// ```
///
/// A body is compressed if its `Content-Type` is a text format, such as JSON, XML, a form, or one of `text/`, and if its
/// size isn't known to be smaller than the minimum. Small bodies are compressed in memory, and sent as they are if that
/// isn't larger; files, sources, and data of more than 256 KiB are compressed while they are sent, with bounded memory and
/// without a known length. `Content-Encoding` names the coding. On a system with neither zlib nor Apple's Compression,
/// bodies are sent as they are.
///
/// A request is not changed if it has `Content-Encoding`, `Content-Range` or a digest of its body already, or if it
/// transfers a part of an upload. Signatures cover the compressed body.
///
/// If the server responds with 415 (RFC 9110 §15.5.16) or 411 (§15.5.12), the request is sent again without the coding,
/// and later requests to that origin aren't compressed, unless the response's `Accept-Encoding` names the coding (RFC 7694
/// §3): then it refuses something else.
///
/// The length of a compressed body depends on its content. If a body contains a secret as well as text that another person
/// controls, an observer of several requests can guess the secret from their lengths; don't compress such bodies.
public struct BodyCompressionPlugin: Plugin {
    /// Larger data is compressed while it is sent, because it would block other calls' tasks for too long.
    private static let memoryLimit = 256 << 10
    /// The number of origins that are remembered.
    private static let originLimit = 256

    private let compression: BodyCompression
    /// The origins that refused the coding.
    private let refusing = Locked<Set<[String]>>([])

    /// Creates a plugin.
    ///
    /// - Parameter compression: How bodies of calls without ``TargetKit/CallOptions/bodyCompression`` are compressed;
    ///   default: by gzip, from 1,024 bytes on.
    public init(_ compression: BodyCompression = .gzip()) {
        self.compression = compression
    }

    /// After the wait for a free slot, and before plugins that sign requests.
    public var place: PluginPlace { PluginPlace(rawValue: PluginPlace.concurrencyLimit.rawValue + 2) }

    /// The hooks that the plugin implements.
    public var hooks: PluginHooks { .exchange }

    /// Sends the request with a compressed body.
    ///
    /// - Throws: The error of the exchange, or of the body's source.
    public func exchange(
        _ request: TransportRequest,
        context: RequestContext,
        next: Exchange
    ) async throws -> TransportResponse {
        let compression = context.options.bodyCompression ?? compression
        guard let coding = compression.coding, let origin = request.urlRequest.url?.origin,
            request.urlRequest.hasCompressibleBody, !refusing.withLock({ $0.contains(origin) }),
            let body = try compressed(request.body, by: coding, minimumSize: compression.minimumSize)
        else { return try await next(request) }
        var sent = request
        sent.body = body
        sent.urlRequest.setValue(coding.rawValue, forHTTPHeaderField: "Content-Encoding")
        let response = try await next(sent)
        let status = response.head.statusCode
        guard status == 415 || status == 411, !response.head.headers.accept(coding) else { return response }
        let second = try await next(request)
        if second.head.statusCode != status {
            refusing.withLock { refusing in
                if refusing.count >= Self.originLimit { refusing = [] }
                refusing.insert(origin)
            }
        }
        return second
    }

    /// The compressed body; `nil` if the body should be sent as it is.
    private func compressed(
        _ body: TransportRequest.Body,
        by coding: BodyCompression.Coding,
        minimumSize: Int
    ) throws -> TransportRequest.Body? {
        guard let source = try body.source(), source.length.map({ $0 >= max(1, minimumSize) }) ?? true else {
            return nil
        }
        let compressed = CompressedBody(source: source, coding: coding)
        guard CompressedBody.isAvailable else { return nil }
        guard case .data(let data) = body, data.count <= Self.memoryLimit else { return .stream(compressed) }
        var result = Data()
        try compressed.readAll { result.append(contentsOf: $0) }
        return result.count < data.count ? .data(result) : nil
    }
}

extension URLRequest {
    /// Whether the body's type is one that compresses well, and nothing in the head depends on the body's bytes.
    fileprivate var hasCompressibleBody: Bool {
        guard let field = value(forHTTPHeaderField: "Content-Type"),
            !(allHTTPHeaderFields ?? [:]).keys.contains(where: \.fixesBody)
        else { return false }
        let type = field.mediaType
        return type.hasPrefix("text/") || ["+json", "+xml", "+yaml"].contains(where: type.hasSuffix)
            || [
                "application/json", "application/xml", "application/x-www-form-urlencoded", "application/x-ndjson",
                "application/jsonl", "application/javascript", "application/graphql", "application/yaml",
                "application/x-plist",
            ].contains(type)
    }
}

extension String {
    /// Whether a field of this name describes the bytes of the body, or belongs to a resumable upload, whose offsets count
    /// them.
    fileprivate var fixesBody: Bool {
        let name = lowercased()
        return name.hasPrefix("upload-")
            || [
                "content-encoding", "content-range", "content-md5", "content-digest", "repr-digest", "digest",
                "tus-resumable", "x-amz-content-sha256",
            ].contains(name)
    }
}

extension HTTPHeaders {
    /// Whether the codings that the server accepts contain one (RFC 9110 §12.5.3, RFC 7694 §3).
    fileprivate func accept(_ coding: BodyCompression.Coding) -> Bool {
        let ranges = values(for: "Accept-Encoding").flatMap { $0.elements(separatedBy: ",") }
        func range(_ names: String...) -> Substring? {
            ranges.first { names.contains($0.prefix { $0 != ";" }.trimmingSpaces.lowercased()) }
        }
        guard let range = range(coding.rawValue, "x-" + coding.rawValue) ?? range("*") else { return false }
        let weight = HeaderParameters(String(range)).parameters.first { $0.name == "q" }
        return weight.map { Double($0.value) != 0 } ?? true
    }
}
