// SPDX-License-Identifier: MIT

/// A request's body in a form that URLSession can resend from the start and whose length it knows.
enum URLSessionBody: Sendable {
    case none
    case data(Data)
    case file(URL)
    /// A temporary file that is removed after the exchange.
    case spooled(PartialFile)

    /// The number of bytes above which a source is stored on disk.
    private static let memoryLimit = 1 << 20

    /// Creates the body of a request; `.none` for a source, which must be read first.
    init(_ body: TransportRequest.Body) {
        self =
            switch body {
            case .none, .stream: .none
            case .data(let data): .data(data)
            case .file(let url): .file(url)
            }
    }

    /// Reads a source to its end.
    ///
    /// On Linux, an `InputStream` blocks every session of the process while it waits (Swift 6.3.1).
    init(of source: any BodySource, whileWanted isWanted: () -> Bool) throws {
        var data = Data()
        var file: PartialFile?
        var count: Int64 = 0
        try source.readAll { piece in
            guard isWanted() else { throw CancellationError() }
            count += Int64(piece.count)
            data.append(contentsOf: piece)
            guard file != nil || data.count > Self.memoryLimit else { return }
            do throws(URLError) {
                let spool = if let file { file } else { try PartialFile() }
                try spool.append(data)
                file = spool
            } catch {
                throw TransportFailure(error)
            }
            data.removeAll(keepingCapacity: true)
        }
        if let length = source.length, length != count {
            throw TransportFailure(
                .requestBodyStreamExhausted,
                message: "the body's source declared \(length) bytes but provided \(count)"
            )
        }
        self = file.map { .spooled($0) } ?? .data(data)
    }

    /// Whether there is a body, including an empty one.
    var isPresent: Bool {
        if case .none = self { false } else { true }
    }

    /// The number of bytes; `nil` if a file's size can't be read.
    var length: Int64? {
        switch self {
        case .none: 0
        case .data(let data): Int64(data.count)
        case .file(let url): Self.size(of: url)
        case .spooled(let file): Self.size(of: file.url)
        }
    }

    private static func size(of url: URL) -> Int64? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: url.path)
        return (attributes?[.size] as? NSNumber)?.int64Value
    }
}

extension URLSessionBody {
    /// A new stream of the body from its start; `nil` if there is none.
    var stream: InputStream? {
        switch self {
        case .none: nil
        case .data(let data): InputStream(data: data)
        case .file(let url): InputStream(url: url)
        case .spooled(let file): InputStream(url: file.url)
        }
    }
}

extension URLRequest {
    /// The request with a body that is read while it is sent.
    ///
    /// On Linux (Swift 6.3.1), the process ends if an upload task with a file ends while the file is read. When a
    /// connection closes, an upload task with data or a file sends only the rest of its body again; a stream is
    /// replaced by a new stream. Watched by `FoundationFatalTests`.
    func sending(_ body: URLSessionBody) -> URLRequest {
        guard let stream = body.stream else { return self }
        var request = self
        #if !canImport(FoundationNetworking)
        // URLSession can send bytes again by itself.
        if case .data(let data) = body {
            request.httpBody = data
            return request
        }
        #endif
        request.httpBodyStream = stream
        // Without a length, the body would be sent in chunks.
        if let length = body.length, !has("Transfer-Encoding") {
            request.setValue("\(length)", forHTTPHeaderField: "Content-Length")
            #if canImport(FoundationNetworking)
            request.setValue(" ", forHTTPHeaderField: "Transfer-Encoding")
            #endif
        }
        #if canImport(FoundationNetworking)
        // A blank field isn't sent. It prevents libcurl from sending the body in chunks, and Foundation from adding a
        // form's type.
        if !has("Content-Type") { request.setValue(" ", forHTTPHeaderField: "Content-Type") }
        #endif
        return request
    }

    private func has(_ field: String) -> Bool { value(forHTTPHeaderField: field) != nil }
}
