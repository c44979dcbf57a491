// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// What a response means for a download that may have begun earlier.
enum RangeResponse: Sendable, Hashable {
    /// The body is the whole file; what there was is outdated.
    case whole
    /// The body is the requested range, of the same version.
    case range(ClosedRange<Int64>, completeLength: Int64)
    /// The response can be neither used nor refused by its status, and what there was is of no use.
    case unusable(reason: String)
    /// The response has no part of the file: its status says why.
    case other

    /// - Parameters:
    ///   - record: What is known of the bytes that are there; `nil` if no range was requested.
    ///   - first: The first position that was requested.
    ///   - last: The last position that was requested; `nil`: the rest of the file.
    ///   - source: The URL that the response came from.
    init(_ head: ResponseHead, to record: PartRecord?, from first: Int64, through last: Int64? = nil, source: URL) {
        switch head.statusCode {
        case 206:
            guard let record else {
                self = .unusable(reason: "it is a part of the file (HTTP 206), and the whole file was requested")
                return
            }
            self = Self.partial(head.headers, record: record, first, last: last, source: source)
        case 416 where record != nil:
            self = .unusable(reason: "the file on the server is shorter, or has changed")
        case 200...299: self = .whole
        default: self = .other
        }
    }

    private static func partial(
        _ headers: HTTPHeaders,
        record: PartRecord,
        _ first: Int64,
        last: Int64?,
        source: URL
    ) -> RangeResponse {
        // Its body has the fields of each range, too, and need not be the range of its own Content-Range.
        guard !headers.isMultipartRanges else { return .unusable(reason: "the range is in a multipart body") }
        let ranges = headers.values(for: .contentRange)
        guard ranges.count == 1, let range = ContentRange(ranges[0]), let bytes = range.bytes else {
            return .unusable(reason: "the response does not have one valid Content-Range")
        }
        guard headers.isUncoded else { return .unusable(reason: "the range has a content coding") }
        guard record.validator.matches(headers), record.source == PartRecord.digest(ofSource: source) else {
            return .unusable(reason: "the range may be of another version of the file")
        }
        guard bytes.lowerBound == first, bytes.upperBound <= last ?? .max else {
            return .unusable(reason: "another range was sent than requested")
        }
        guard let length = range.completeLength ?? record.length, length == record.length ?? length,
            bytes.upperBound < length
        else { return .unusable(reason: "the length of the file is unknown, or has changed") }
        if let count = headers.contentLength, count != bytes.upperBound - bytes.lowerBound + 1 {
            return .unusable(reason: "the lengths in Content-Range and Content-Length differ")
        }
        return .range(bytes, completeLength: length)
    }
}
