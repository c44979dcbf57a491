// SPDX-License-Identifier: MIT

/// The complete body of a response, in a partial file that is checked and moved to its destination.
package struct DownloadedFile: Sendable {
    package let part: URL
    package let head: ResponseHead
    /// The fields of the head, including fields that only the first of several responses has.
    package let headers: HTTPHeaders
    /// The position of the response's first byte in the file.
    package let contentStart: Int64

    package init(part: URL, head: ResponseHead, headers: HTTPHeaders, contentStart: Int64) {
        self.part = part
        self.head = head
        self.headers = headers
        self.contentStart = contentStart
    }

    /// Checks and moves the file on a separate thread, because this takes a long time for large files.
    ///
    /// - Parameters:
    ///   - source: The URL of the response.
    ///   - handle: The handle of the call. When the file is at its destination, the call can no longer be cancelled.
    package func complete(
        at destination: DownloadDestination,
        from source: URL?,
        of handle: RequestHandle
    ) async throws -> URL {
        let commit = DownloadCommit(handle)
        return try await withTaskCancellationHandler {
            let result = await DispatchQueue(label: "TargetKit.download").run {
                Result {
                    try destination.fileCheck?.check(self) { commit.isCancelled }
                    return try destination.take(part, head: head, name: name(from: source), by: commit)
                }
            }
            return try result.get()
        } onCancel: {
            commit.cancel()
        }
    }

    private func name(from source: URL?) -> String {
        let field = headers.values(for: .contentDisposition).first
        return field.flatMap(ContentDisposition.fileName) ?? source.flatMap { SafeFileName.make($0.lastPathComponent) }
            ?? "download"
    }
}

/// A check of the complete file of a download.
package protocol DownloadedFileCheck: Sendable {
    /// Checks the check itself before a request is sent.
    func check() throws
    /// Checks the file before it is moved to its destination.
    func check(_ file: DownloadedFile, isCancelled: () -> Bool) throws
}

extension HTTPHeaders {
    /// Whether the content has no coding (RFC 9110 §8.4).
    package var isUncoded: Bool {
        values(for: .contentEncoding).allSatisfy { $0.isEmpty || $0.equalsIgnoringASCIICase("identity") }
    }

    /// Whether the body consists of several ranges with header fields (RFC 9110 §14.6).
    package var isMultipartRanges: Bool {
        values(for: .contentType).contains { $0.mediaType == "multipart/byteranges" }
    }
}

extension ExchangeResult {
    /// Checks that the body is the whole file, or the part that the target requested.
    ///
    /// - Parameter byteCount: The size of the body; `nil` for the announced one.
    func checkRange(byteCount: Int64? = nil) throws {
        let head = response.head
        guard head.statusCode == 206 else {
            if let reason = head.reasonForPart(byteCount: byteCount) { throw URLError.unusable(reason) }
            return
        }
        guard let requested = request.value(forHTTPHeaderField: "Range") else {
            throw URLError.unusable("it is only a part of the file (HTTP 206), but the whole file was requested")
        }
        if head.headers.isMultipartRanges {
            if !requested.contains(",") { throw URLError.unusable("the range is in a multipart body") }
            return
        }
        guard let range = head.headers[.contentRange].flatMap(ContentRange.init), let bytes = range.bytes else {
            return
        }
        let positions = requested.split(separator: "=").last?.split(separator: "-", omittingEmptySubsequences: false)
        if !requested.contains(","), let positions, positions.count == 2, let first = Int64(positions[0]),
            bytes.lowerBound < first || bytes.upperBound > Int64(positions[1]) ?? .max
        {
            throw URLError.unusable("the server sent a different range than requested")
        }
        if head.headers.isUncoded, let count = byteCount ?? head.headers.contentLength,
            count - 1 != bytes.upperBound - bytes.lowerBound
        {
            throw URLError.unusable("it has \(count) bytes, which isn't the length of the range in Content-Range")
        }
    }
}

extension ResponseHead {
    /// The reason why the body isn't the whole file that the status announces, for a status other than 206; `nil` if no
    /// field says so. Servers and proxies exist that change the status of a part, so the status doesn't overrule the
    /// fields.
    ///
    /// - Parameter byteCount: The size of the body; `nil` for the announced one.
    package func reasonForPart(byteCount: Int64? = nil) -> String? {
        for field in headers.values(for: .contentRange) where ContentRange.hasBytes(field) {
            guard let range = ContentRange(field) else { return "its Content-Range is invalid" }
            if range.bytes != nil, !range.isWhole {
                return "its Content-Range is a part of the file, although its status is \(statusCode)"
            }
            if headers.isUncoded, let length = range.completeLength, let count = byteCount ?? headers.contentLength,
                count != length
            {
                return "it has \(count) bytes, but the file has \(length) according to its Content-Range"
            }
        }
        return nil
    }
}

extension URLError {
    /// The error for an unusable response.
    static func unusable(_ words: String) -> URLError {
        URLError(.badServerResponse, message: words)
    }
}

/// The reason why a download doesn't produce its file.
package enum DownloadFailure: Error, Sendable, Hashable {
    /// A file exists at the destination and must not be replaced.
    case fileExists(path: String)
    /// The partial file can't be continued, so the next attempt begins at the first byte.
    case mustRestart(reason: String)
    /// The server sent only a part of the requested range, so the next attempt requests the rest.
    case isIncomplete(receivedByteCount: Int64)
}

extension DownloadFailure: ErrorWithKind, RedactedDescription {
    package var kind: TargetKitError.Kind? {
        switch self {
        case .fileExists: .conflict
        case .mustRestart, .isIncomplete: .connectionLost
        }
    }

    /// The reason in one line.
    var redactedDescription: String {
        switch self {
        case .fileExists(let path): "the file \(path.inOneLine) already exists and isn't replaced"
        case .mustRestart(let reason): "the download can't be continued: \(reason)"
        case .isIncomplete: "the server sent only a part of the requested range"
        }
    }
}
