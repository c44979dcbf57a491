// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitTesting

/// A call of a test or check, with defaults.
package struct TestCall: Sendable {
    package var path: String
    package var method: String
    package var headers: [String: String]
    package var body: TransportRequest.Body
    package var destination: TransportRequest.Destination
    package var timeout: Duration?
    package var progress: (@Sendable (TransferProgress) -> Void)?

    package init(
        path: String = "/",
        method: String = "GET",
        headers: [String: String] = [:],
        body: TransportRequest.Body = .none,
        destination: TransportRequest.Destination = .memory(limit: 64 << 20),
        timeout: Duration? = nil,
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) {
        self.path = path
        self.method = method
        self.headers = headers
        self.body = body
        self.destination = destination
        self.timeout = timeout
        self.progress = progress
    }

    package func request(to base: URL) throws -> TransportRequest {
        guard let url = URL(string: base.absoluteString + path) else {
            throw ExpectationFailure("the check's own URL is invalid: \(base.absoluteString + path)")
        }
        var request = URLRequest(url: url)
        request.httpMethod = method
        request.allHTTPHeaderFields = headers
        return TransportRequest(
            urlRequest: request,
            body: body,
            destination: destination,
            timeout: timeout,
            progress: progress
        )
    }

    @discardableResult
    package func send(to server: TestServer, with transport: any Transport) async throws -> TransportResponse {
        try await transport.send(request(to: server.baseURL))
    }

    /// The code of the call's `URLError`; otherwise `nil`.
    package func failure(at base: URL, with transport: any Transport) async -> URLError.Code? {
        do {
            _ = try await transport.send(request(to: base))
            return nil
        } catch {
            return (error as? URLError)?.code
        }
    }

    /// The error of the call.
    ///
    /// - Throws: `ExpectationFailure` if the call returns a response.
    func error(at base: URL, with transport: any Transport) async throws -> any Error {
        let response: TransportResponse
        do {
            response = try await transport.send(request(to: base))
        } catch {
            return error
        }
        throw ExpectationFailure("the call returned the status \(response.head.statusCode), expected an error")
    }

    /// Checks that the call fails with one of the codes, and that the next call works.
    func expectFailure(_ codes: URLError.Code..., at server: TestServer, with transport: any Transport) async throws {
        try expect(await error(at: server.baseURL, with: transport), isOneOf: codes)
        try await expectNextCallWorks(transport)
    }

    func expectNextCallWorks(_ transport: any Transport) async throws {
        let next = try TestServer(response: .text("next"))
        let response = try await TestCall().send(to: next, with: transport)
        try expect("the next call's body", value: response.text, is: "next")
    }
}

/// Checks that an error is a `URLError` with one of the codes.
func expect(_ error: any Error, isOneOf codes: [URLError.Code]) throws {
    guard let error = error as? URLError else {
        throw ExpectationFailure("the error was \(error), expected a URLError")
    }
    let names = codes.map { "\($0.rawValue)" }.joined(separator: " or ")
    try expect(codes.contains(error.code), text: "the code was \(error.code.rawValue), expected \(names): \(error)")
}

extension TransportResponse {
    /// The bytes of the body, even if it is in a file.
    package var bytes: Data {
        switch body {
        case .data(let data): data
        case .file(let url): (try? Data(contentsOf: url)) ?? Data()
        // These calls don't request a stream or a connection.
        case .stream, .upgraded: Data()
        }
    }

    package var text: String { String(decoding: bytes, as: UTF8.self) }
}

/// Whether the error is one of the two cancellation errors.
func isCancellation(_ error: any Error) -> Bool {
    error is CancellationError || (error as? URLError)?.code == .cancelled
}

/// Pseudorandom bytes, which are equal for equal counts.
func noise(_ count: Int) -> Data {
    var generator = SeededGenerator(seed: UInt64(count))
    var data = Data(capacity: count + 8)
    while data.count < count {
        withUnsafeBytes(of: generator.next()) { data.append(contentsOf: $0) }
    }
    return data.prefix(count)
}

/// A file that is removed with its last reference.
final class ConformanceFile: Sendable {
    let url: URL

    init(_ content: Data? = nil) throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("targetkit-conformance-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        url = folder.appendingPathComponent("file")
        try content?.write(to: url)
    }

    deinit {
        try? FileManager.default.removeItem(at: url.deletingLastPathComponent())
    }

    var content: Data? { try? Data(contentsOf: url) }

    /// The names of the files in its folder.
    var neighbours: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: url.deletingLastPathComponent().path)) ?? []
    }
}

/// A body source that counts its readers and the bytes that they read.
struct ConformanceSource: BodySource {
    struct Failure: Error {}

    let opened = Tally()
    let closed = Tally()
    let read = Tally()

    var bytes: Data
    var length: Int64?
    /// The number of bytes after which reading fails.
    var failsAfter: Int?

    func open() throws -> any BodyReader {
        opened.add()
        return Reader(source: self)
    }

    private final class Reader: BodyReader {
        private let source: ConformanceSource
        private var offset = 0

        init(source: ConformanceSource) {
            self.source = source
        }

        deinit { source.closed.add() }

        func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
            if let limit = source.failsAfter, offset >= limit { throw Failure() }
            // A reader may return fewer bytes than requested.
            let count = min(buffer.count, 4_099, source.bytes.count - offset)
            source.bytes.dropFirst(offset).prefix(count).withUnsafeBytes { buffer.copyMemory(from: $0) }
            offset += count
            source.read.add(count)
            return count
        }
    }
}
