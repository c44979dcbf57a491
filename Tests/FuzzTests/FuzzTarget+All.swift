// SPDX-License-Identifier: MIT
import Foundation
import TargetKitJSON
import TestSupport
import _TargetKitSupport

@testable import TargetKit
@testable import TargetKitContracts
@testable import TargetKitOffline
@testable import TargetKitPlugins
@testable import TargetKitResilience
@testable import TargetKitTesting
@testable import TargetKitTransfers
@testable import TargetKitWebSocket
@testable import _TargetKitRedaction
@testable import _TargetKitStorage

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension FuzzTarget {
    /// Every reader of bytes that come from a network or a disk.
    static let all = fields + bodies + stored
    private static let now = Date(timeIntervalSince1970: 1_700_000_000)
}

// MARK: - Header fields

extension FuzzTarget {
    private static let fields = [
        FuzzTarget(
            name: "heads",
            tokens: ["\r\n", "\r\n\r\n", "HTTP/1.1 ", "Content-Length: ", " ", "\t", ":"],
            read: readHead
        ),
        FuzzTarget(name: "cookies", tokens: [";", "=", "Domain=", "Path=/", "Expires=", "Max-Age=", "__Host-", ","]) {
            let store = CookieStore(now: { now })
            store.store($0.text.components(separatedBy: "\n"), from: .example)
            _ = (store.cookies(for: .example), store.header(for: .example))
        },
        FuzzTarget(name: "links", tokens: ["<", ">", ";", ",", "rel=", "\"", "?access_token=", "%", "[", "url="]) {
            let redaction = Redaction()
            for name in ["Link", "Location", "Refresh", "Set-Cookie", "X-Trace"] {
                _ = redaction.header($0.text, name: name)
            }
        },
        FuzzTarget(
            name: "dispositions",
            tokens: [";", "filename=", "filename*=", "UTF-8''", "\"", "\\", "%", "/", "..", "'"]
        ) {
            _ = ContentDisposition.fileName(in: $0.text)
            _ = HeaderParameters($0.text).values(of: "filename")
        },
        FuzzTarget(
            name: "cache-control",
            tokens: [",", "=", "\"", "max-age=", "stale-while-revalidate=", "no-cache", "\n", "Age: ", "Expires: "]
        ) {
            var headers = HTTPHeaders()
            for (line, name) in zip($0.text.components(separatedBy: "\n"), ["Cache-Control", "Age", "Date", "Expires"])
            {
                headers.add(HTTPHeaderName(rawValue: name), value: line)
            }
            let freshness = Freshness(
                statusCode: 200,
                headers: headers,
                requestTime: now,
                responseTime: now,
                usesHeuristics: true
            )
            let directives = RequestDirectives(["Cache-Control": $0.text, "Pragma": $0.text])
            _ = (freshness.use(for: directives, at: now), freshness.allowsStaleIfError(for: directives, at: now))
        },
        FuzzTarget(
            name: "challenges",
            tokens: ["Basic ", "Digest ", "realm=", "nonce=", "qop=", "\"", ",", "=", "\\", " "]
        ) {
            for challenge in AuthenticationChallenge.challenges(in: [$0.text]) {
                let digest = try? DigestChallenge(challenge, clientNonce: "c")
                _ = digest?.answer(
                    to: DigestChallenge.Request(method: "GET", uri: "/", count: 1),
                    user: "u",
                    password: "p"
                )
            }
        },
        FuzzTarget(
            name: "values",
            tokens: ["bytes ", "-", "/", "*", "GMT", "charset=", ";", "\"", "{", "*=", "UTF-8''"]
        ) {
            _ = HTTPDate.parse($0.text, now: now)
            _ = ContentRange($0.text)
            _ = try? Response(statusCode: 200, data: $0, headers: ["Content-Type": $0.text]).string()
            _ = RequestPath(stringLiteral: $0.text)
        },
    ]

    @Sendable private static func readHead(_ data: Data) async throws {
        #if os(Linux)
        var head = CurlResponseHead(limit: 1 << 20, keepsInterim: true)
        for line in data.split(separator: 10, omittingEmptySubsequences: false) {
            try (Data(line) + [10]).withUnsafeBytes { try head.receive($0) }
            _ = head.takeInterim()?.headers
        }
        _ = head.response.headers.map { ($0.name, $0.value) }
        #endif
        var reader = HandshakeReader(ScriptedConnection(data.pieces), headLimit: 1 << 16)
        let response = try await reader.response(to: URLRequest(url: .example))
        _ = response.head.headers.map { ($0.name, $0.value) }
    }
}

/// A connection that delivers pieces, and ends.
private final class ScriptedConnection: ByteConnection {
    private let pieces: Locked<ArraySlice<Data>>

    init(_ pieces: [Data]) { self.pieces = Locked(pieces[...]) }

    func read() async throws -> [UInt8]? { pieces.withLock { $0.popFirst() }.map { Array($0) } }
    func write(_ bytes: [UInt8], completion: @escaping @Sendable ((any Error)?) -> Void) { completion(nil) }
    func close(sending bytes: [UInt8]) {}
}

// MARK: - Bodies

extension FuzzTarget {
    private static let bodies = [
        FuzzTarget(
            name: "multipart",
            fixtures: "multipart-",
            tokens: ["\r\n", "--", "\r\n\r\n", "Content-Disposition: form-data; name=\"password\"", "boundary="]
        ) {
            _ = MultipartParts($0, contentType: nil)
            let redaction = Redaction()
            let boundary = $0.prefix { $0 > 0x20 && $0 < 0x7F }.dropFirst(2)
            _ = redaction.body($0, contentType: "multipart/form-data; boundary=\"\(Data(boundary).text)\"")
            _ = redaction.body($0, contentType: nil)
        },
        FuzzTarget(
            name: "requests",
            tokens: [
                "\r\n", "0\r\n\r\n", "Transfer-Encoding: chunked\r\n", "Content-Length: ", "ffffffffffffffff", ";",
            ]
        ) {
            var parser = RequestParser()
            for piece in $0.pieces {
                piece.withUnsafeBytes { parser.append($0) }
                while try parser.next() != nil {}
            }
        },
        FuzzTarget(name: "events", tokens: ["\n", "\r", "\r\n", "data:", "id:", "retry:", "event:", ": ", "\n\n"]) {
            let pieces = Locked($0.pieces[...])
            let stream = ResponseStream(statusCode: 200, body: ResponseBody { pieces.withLock { $0.popFirst() } })
            for try await event in stream.serverSentEvents(limit: 1 << 16) { _ = event.data.utf8.count }
        },
        FuzzTarget(
            name: "json",
            tokens: ["{", "}", "[", "]", ",", ":", "\"", "\\u", "\\ud800", "\\", "null", "true", "-", "e", "."]
        ) {
            _ = Redaction().body($0, contentType: "application/json")
            let response = Response(statusCode: 200, data: $0, headers: ["Content-Type": "application/json"])
            _ = try? response.json(atKeyPath: "a.0.b")
            _ = try? response.decode([String: JSONValue].self, atKeyPath: "a")
            let value = try JSONValue(parsing: $0)
            _ = (value.description, value.object?.count, value.int, value.double, value == value)
            _ = try? value.decode([String: [Double]].self)
        },
        FuzzTarget(name: "frames", tokens: ["\u{7F}", "\0\0\0\0\0\0\0\0"]) { bytes in
            let roles: [(WebSocketRole, PerMessageDeflate?)] = [
                (.client, nil), (.server, nil), (.client, PerMessageDeflate.isAvailable ? PerMessageDeflate() : nil),
            ]
            for (role, deflate) in roles {
                var reader = WebSocketReader(role: role, deflate: deflate)
                try? bytes.pieces.forEach { try $0.withUnsafeBytes { try reader.read($0) { _ in } } }
                try? reader.finish()
            }
        },
        FuzzTarget(name: "dns", tokens: ["\u{1}", "\0\u{1C}", "\0\u{10}"]) {
            // The corpus asks for these.
            for host in ["a.io", "www.example.com"] {
                for type in DNSMessage.RecordType.allCases { _ = try? DNSMessage.answer($0, to: type, of: host) }
            }
        },
    ]
}

// MARK: - Files

extension FuzzTarget {
    private static let json = ["{", "}", "[", "]", ",", ":", "\"", "\\u0000", "null", "-1", "\"\"", "{}", "[]"]

    private static let stored = [
        FuzzTarget(name: "har", fixtures: "traffic-", tokens: json + ["base64", "encoding", "text", "-1", "_error"]) {
            let folder = try TemporaryFolder()
            let source = HARSource(url: try folder.file("traffic.har", $0), redaction: Redaction())
            for item in try source.items() { _ = try source.outcome(of: item) }
        },
        FuzzTarget(name: "cassettes", tokens: json + ["version", "request.method", "..", "/"]) {
            let document = try CassetteDocument($0)
            _ = try CassetteDocument(Data("\(document.json)".utf8))
            let folder = try TemporaryFolder()
            _ = try folder.file("001-GET-things.json", $0)
            let source = CassetteFolder(url: folder.url)
            for item in try source.items() { _ = try source.outcome(of: item) }
        },
        FuzzTarget(name: "records", tokens: json + ["\n", "kept", "ended", "begun", "moved", "failed", "\u{0}"]) {
            for data in [$0, $0.sealedLines] {
                _ = RecordLines<OutboxRecord>(data).isForeign(data)
                let folder = try TemporaryFolder()
                let store = try? OutboxStore<FuzzNote>(try folder.file("outbox", data), content: OutboxContent())
                _ = store?.content.value.items.all.count
                let transfers = RecordLines<StoredTransfer>(data)
                _ = (transfers.records.count, transfers.unreadable)
            }
        },
        FuzzTarget(name: "cached") {
            let folder = try TemporaryFolder()
            _ = CacheFile.entry(at: try folder.file("response", $0).path)
            for data in [$0, CacheFile.sealed($0)] {
                let response = data.withUnsafeBytes { CacheFile.response(in: $0, usesHeuristics: true) }
                _ = response.map { CacheFile.data(of: $0) }
            }
        },
        FuzzTarget(name: "resumption", tokens: json + ["segments", "syncedEnd", "9223372036854775807"]) { data in
            _ = (PartRecord(data), UploadRecord(data))
            let decoder = JSONDecoder()
            if let record = try? decoder.decode(PartRecord.self, from: data) {
                _ = PartRecord(try ChecksummedRecord(record).data)
                _ = PositionsFile.positions(in: data, of: record)
            }
            if let record = try? decoder.decode(UploadRecord.self, from: data) {
                _ = UploadRecord(try ChecksummedRecord(record).data)
            }
        },
        FuzzTarget(name: "cookie-files", tokens: json + ["expires", "1e308", "-1e308"]) {
            let folder = try TemporaryFolder()
            let store = try CookieStore(file: try folder.file("cookies", $0), now: { now })
            _ = store.header(for: .example)
        },
        FuzzTarget(
            name: "openapi",
            tokens: json + [
                "$ref", "\"#/\"", "\"#/components/schemas/A\"", "allOf", "oneOf", "pattern", "format", "(a*)*",
            ]
        ) {
            let contract = try OpenAPIContract(document: $0)
            for operation in try OpenAPIOperation.all(in: contract.document) {
                let check = OpenAPIResponseCheck(document: contract.document, operation: operation)
                for body in [$0, Data(#"{"id":1,"name":"tea","children":[{}]}"#.utf8)] {
                    _ = try? check.differences(status: 200, headers: ["Content-Type": "application/json"], body: body)
                }
            }
        },
    ]
}

/// The target of an outbox's entries.
private struct FuzzNote: TargetType, Codable {
    var text: String?

    var baseURL: URL { .example }
    var path: RequestPath { "/notes" }
}

extension Data {
    /// Each line with the digest that makes it a record.
    fileprivate var sealedLines: Data {
        Data(
            split(separator: 10).map { line in
                let json = line.first == UInt8(ascii: "{") ? Data(line) : Data(line.dropFirst(17))
                return Data((SHA256Hasher.hexadecimal(of: json).prefix(16) + " ").utf8) + json + [10]
            }
            .joined()
        )
    }
}

extension CacheFile {
    /// The contents with the checksum of their bytes.
    fileprivate static func sealed(_ data: Data) -> Data {
        guard data.count > prefixSize else { return data }
        var sealed = data
        let checksum = data.withUnsafeBytes { Self.checksum(UnsafeRawBufferPointer(rebasing: $0[12...])) }
        withUnsafeBytes(of: checksum.littleEndian) { sealed.replaceSubrange(4..<12, with: $0) }
        return sealed
    }
}
