// SPDX-License-Identifier: MIT
import Foundation

/// A form's body as a list of segments, of which files and streams are opened when their turn comes.
struct MultipartBodySource: BodySource {
    /// Bytes that are there, or a source of as many bytes as it has promised.
    enum Segment: Sendable {
        case bytes(Data)
        case source(any BodySource, length: Int64, position: MultipartError.Position)
    }

    private var segments: [Segment] = []
    private var total: Int64 = 0

    var length: Int64? { total }

    func open() throws -> any BodyReader {
        MultipartReader(segments)
    }

    mutating func append(_ data: Data) {
        segments.append(.bytes(data))
        total += Int64(data.count)
    }

    mutating func append(
        _ content: MultipartContent,
        of position: MultipartError.Position
    ) throws(MultipartError.Reason) {
        switch content {
        case .data(let data): append(data)
        case .notEncodable(let why): throw .notEncodable(why)
        case .stream(let stream): try append(stream.source, of: position)
        case .file(let url): try append(Self.file(url), of: position)
        }
    }

    private static func file(_ url: URL) throws(MultipartError.Reason) -> FileBodySource {
        do throws(FileBodySource.Failure) {
            return try FileBodySource(url)
        } catch {
            throw .file(error)
        }
    }

    private mutating func append(
        _ source: any BodySource,
        of position: MultipartError.Position
    ) throws(MultipartError.Reason) {
        guard let length = source.length, length >= 0 else { throw .unknownLength }
        // Room for the lines around the parts, so that adding those cannot overflow.
        let (sum, overflow) = total.addingReportingOverflow(length)
        guard !overflow, sum < Int64.max >> 1 else { throw .tooLong }
        segments.append(.source(source, length: length, position: position))
        total = sum
    }
}
