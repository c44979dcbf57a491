// SPDX-License-Identifier: MIT

/// A form's body as a list of segments. Each file or stream is opened when it is reached.
struct MultipartBodySource: BodySource {
    /// Bytes in memory, or a source with its declared length.
    enum Segment: Sendable {
        case bytes(Data)
        case source(any BodySource, length: Int64, position: MultipartError.Position)
    }

    private var segments: [Segment] = []
    private var total: Int64 = 0

    var length: Int64? { total }

    /// The body, if all of it is in memory.
    var data: Data {
        segments.reduce(into: Data(capacity: Int(total))) { body, segment in
            if case .bytes(let bytes) = segment { body.append(bytes) }
        }
    }

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
    ) throws(MultipartError) {
        switch content {
        case .data(let data): append(data)
        case .notEncodable(let why): throw MultipartError(reason: .notEncodable(why), position: position)
        case .stream(let stream): try append(stream.source, of: position)
        case .file(let url):
            let source: FileBodySource
            do throws(URLError) {
                source = try FileBodySource(url)
            } catch {
                throw MultipartError(reason: .file(error, path: url.filePath), position: position)
            }
            try append(source, of: position)
        }
    }

    private mutating func append(
        _ source: any BodySource,
        of position: MultipartError.Position
    ) throws(MultipartError) {
        guard let length = source.length, length >= 0 else {
            throw MultipartError(reason: .unknownLength, position: position)
        }
        // Leaves a margin, so that adding the framing's length can't overflow.
        let (sum, overflow) = total.addingReportingOverflow(length)
        guard !overflow, sum < Int64.max >> 1 else { throw MultipartError(reason: .tooLong, position: position) }
        segments.append(.source(source, length: length, position: position))
        total = sum
    }
}

/// Reads the segments of a form's body in order, files and streams directly into the transport's buffer.
final class MultipartReader: BodyReader {
    private var segments: ArraySlice<MultipartBodySource.Segment>
    /// The number of bytes read from the first segment.
    private var position: Int64 = 0
    /// The reader of the first segment, if it is open.
    private var opened: (any BodyReader)?
    /// The first error. Every later read throws it again, because the remaining bytes aren't a valid form.
    private var failure: (any Error)?

    init(_ segments: [MultipartBodySource.Segment]) {
        self.segments = segments[...]
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        if let failure { throw failure }
        do {
            return try fill(buffer)
        } catch {
            failure = error
            opened = nil
            throw error
        }
    }

    private func fill(_ buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        var filled = 0
        while filled < buffer.count, let segment = segments.first {
            if filled > 0, beginsLongSource(segment, bufferSize: buffer.count) { break }
            let room = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
            switch segment {
            case .bytes(let data):
                filled += copy(data, into: room)
            case .source(let source, let length, let part):
                do {
                    filled += try read(source, length: length, of: part, into: room)
                } catch  where !(error is CancellationError || error is MultipartError) {
                    throw MultipartError(reason: Self.reason(of: error, reading: source), position: part)
                }
            }
        }
        return filled
    }

    /// Whether the segment is a file larger than the buffer. Its reads then start with an empty buffer and stay
    /// page-aligned, about 10 % faster.
    private func beginsLongSource(_ segment: MultipartBodySource.Segment, bufferSize: Int) -> Bool {
        guard bufferSize >= 16 << 10, position == 0, case .source(_, let length, _) = segment else { return false }
        return length >= Int64(bufferSize)
    }

    private func copy(_ data: Data, into room: UnsafeMutableRawBufferPointer) -> Int {
        let start = data.startIndex + Int(position)
        let count = min(room.count, data.endIndex - start)
        data.copyBytes(to: room, from: start..<start + count)
        position += Int64(count)
        if position == Int64(data.count) { nextSegment() }
        return count
    }

    private func read(
        _ source: any BodySource,
        length: Int64,
        of part: MultipartError.Position,
        into room: UnsafeMutableRawBufferPointer
    ) throws -> Int {
        let reader = try opened ?? source.open()
        opened = reader
        let wanted = Int(min(length - position, Int64(room.count)))
        var count = 0
        if wanted > 0 {
            count = try reader.read(into: UnsafeMutableRawBufferPointer(rebasing: room[..<wanted]))
            guard (0...wanted).contains(count) else {
                let why = "it returned a count of \(count) for a buffer of \(wanted) bytes"
                throw MultipartError(reason: .stream(why), position: part)
            }
            guard count > 0 else { throw MultipartError(reason: .wrongLength(expected: length), position: part) }
        }
        position += Int64(count)
        if position == length {
            var byte: UInt8 = 0
            let rest = try withUnsafeMutableBytes(of: &byte) { try reader.read(into: $0) }
            guard rest == 0 else { throw MultipartError(reason: .wrongLength(expected: length), position: part) }
            nextSegment()
        }
        return count
    }

    private func nextSegment() {
        segments.removeFirst()
        position = 0
        opened = nil
    }

    private static func reason(of error: any Error, reading source: any BodySource) -> MultipartError.Reason {
        guard let file = source as? FileBodySource, let error = error as? URLError else {
            return .stream(error.redactedLine)
        }
        return .file(error, path: file.url.filePath)
    }
}

extension URL {
    /// The path, or the URL if it isn't a file URL.
    fileprivate var filePath: String { isFileURL ? path : absoluteString }
}
