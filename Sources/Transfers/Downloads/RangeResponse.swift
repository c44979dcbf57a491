// SPDX-License-Identifier: MIT
import TargetKit

/// What a response means for a download that may have begun earlier.
enum RangeResponse: Sendable, Hashable {
    /// The body is the whole file, and the stored bytes are outdated.
    case whole
    /// The body is the requested range, of the same version.
    case range(ClosedRange<Int64>, completeLength: Int64)
    /// The response has a successful status but can't be used, and the stored bytes are useless.
    case unusable(reason: String)
    /// The response contains no part of the file, for the reason in its status.
    case other

    /// - Parameters:
    ///   - record: The record of the stored bytes; `nil` if no range was requested.
    ///   - first: The first position that was requested.
    ///   - last: The last position that was requested; `nil` for the rest of the file.
    ///   - source: The URL that the response came from.
    init(_ head: ResponseHead, to record: PartRecord?, from first: Int64, through last: Int64? = nil, source: URL) {
        switch head.statusCode {
        case 206:
            guard let record else {
                self = .unusable(reason: "it is only a part of the file (HTTP 206), but the whole file was requested")
                return
            }
            self = Self.partial(head.headers, record: record, first, last: last, source: source)
        case 416 where record != nil:
            self = .unusable(reason: "the file on the server became shorter or changed")
        case 200...299: self = Self.reasonForPart(head, record: record, first).map(Self.unusable) ?? .whole
        default: self = .other
        }
    }

    /// The reason why a response with the status of a whole file isn't the whole file; `nil` if nothing contradicts it.
    private static func reasonForPart(_ head: ResponseHead, record: PartRecord?, _ first: Int64) -> String? {
        if let reason = head.reasonForPart() { return reason }
        guard let record else { return nil }
        let headers = head.headers
        if headers.values(for: .contentRange).contains(where: { ContentRange($0)?.isWhole != true })
            || headers.isMultipartRanges
        {
            return "it describes a range, although its status is \(head.statusCode)"
        }
        // Equal versions have equal lengths.
        guard headers.isUncoded, record.validator.matches(headers), let count = headers.contentLength,
            count != record.length ?? max(count, first)
        else { return nil }
        return "the length of the file changed, although its version didn't"
    }

    private static func partial(
        _ headers: HTTPHeaders,
        record: PartRecord,
        _ first: Int64,
        last: Int64?,
        source: URL
    ) -> RangeResponse {
        // Its body contains the fields of each range, and need not match its own Content-Range.
        guard !headers.isMultipartRanges else { return .unusable(reason: "the range is in a multipart body") }
        let ranges = headers.values(for: .contentRange)
        guard ranges.count == 1, let range = ContentRange(ranges[0]), let bytes = range.bytes else {
            return .unusable(reason: "the response doesn't have a single valid Content-Range")
        }
        guard headers.isUncoded else { return .unusable(reason: "the range has a content coding") }
        guard record.validator.matches(headers, isOfRange: true), record.source == PartRecord.digest(ofSource: source)
        else {
            return .unusable(reason: "the range may be of another version of the file")
        }
        guard bytes.lowerBound == first, bytes.upperBound <= last ?? .max else {
            return .unusable(reason: "the server sent a different range than requested")
        }
        guard let length = range.completeLength ?? record.length, length == record.length ?? length,
            bytes.upperBound < length
        else { return .unusable(reason: "the length of the file is unknown or changed") }
        if let count = headers.contentLength, count != bytes.upperBound - bytes.lowerBound + 1 {
            return .unusable(reason: "the lengths in Content-Range and Content-Length differ")
        }
        return .range(bytes, completeLength: length)
    }
}

extension HTTPHeaderName {
    static let contentDigest = Self(rawValue: "Content-Digest")
    static let contentDisposition = Self(rawValue: "Content-Disposition")
    static let contentRange = Self(rawValue: "Content-Range")
    static let reprDigest = Self(rawValue: "Repr-Digest")
}
