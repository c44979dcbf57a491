// SPDX-License-Identifier: MIT

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
