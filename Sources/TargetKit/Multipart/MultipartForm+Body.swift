// SPDX-License-Identifier: MIT
import Foundation

extension MultipartForm {
    /// The whole body in memory, each byte copied once.
    ///
    /// Every line ends in CR LF, the closing boundary's too; nothing follows it (RFC 2046 §5.1.1).
    ///
    /// - Throws: ``MultipartError``: no parts, a wrong boundary, a wrong part, or a part that is a file or a stream: those
    ///   forms are sent with ``bodySource()``.
    public func data() throws(MultipartError) -> Data {
        let boundary = try checkedBoundary()
        var pieces: [(head: [UInt8], content: Data)] = []
        pieces.reserveCapacity(parts.count)
        var size = boundary.text.utf8.count + 6
        for (index, part) in parts.enumerated() {
            let head = try head(of: part, at: index, boundary: boundary)
            let content = try content(of: part, at: index)
            size += head.count + content.count + 2
            pieces.append((head, content))
        }
        var body = Data(capacity: size)
        for piece in pieces {
            body.append(contentsOf: piece.head)
            body.append(piece.content)
            body.append(contentsOf: Self.lineEnd)
        }
        body.append(contentsOf: Self.closing(boundary))
        return body
    }

    /// The body as a source that reads files and streams as they are sent, and can be opened again.
    ///
    /// Each file's size is taken here, so the length is known before the first byte. Neither memory nor a temporary file
    /// ever holds the whole body; each reader has at most one file open.
    ///
    /// - Throws: ``MultipartError``: no parts, a wrong boundary, a wrong part, a file that is missing or cannot be read, a
    ///   stream of unknown length. A file or a stream that turns out longer or shorter is an error while reading.
    public func bodySource() throws(MultipartError) -> any BodySource {
        let boundary = try checkedBoundary()
        var source = MultipartBodySource()
        for (index, part) in parts.enumerated() {
            source.append(Data(try head(of: part, at: index, boundary: boundary)))
            do throws(MultipartError.Reason) {
                try source.append(part.content, of: MultipartError.Position(index: index, name: part.name))
            } catch {
                throw MultipartError(error, at: index, of: part)
            }
            source.append(Data(Self.lineEnd))
        }
        source.append(Data(Self.closing(boundary)))
        return source
    }

    private static let lineEnd: [UInt8] = [0x0D, 0x0A]

    private static func closing(_ boundary: MultipartBoundary) -> [UInt8] {
        Array("--\(boundary.text)--\r\n".utf8)
    }

    private func checkedBoundary() throws(MultipartError) -> MultipartBoundary {
        guard !parts.isEmpty else { throw MultipartError(reason: .emptyForm) }
        guard let checked = MultipartBoundary(boundary) else { throw MultipartError(reason: .boundary(boundary)) }
        return checked
    }

    private func head(of part: Part, at index: Int, boundary: MultipartBoundary) throws(MultipartError) -> [UInt8] {
        do throws(MultipartError.Reason) {
            return try MultipartPartHead(part: part, boundary: boundary).bytes
        } catch {
            throw MultipartError(error, at: index, of: part)
        }
    }

    private func content(of part: Part, at index: Int) throws(MultipartError) -> Data {
        switch part.content {
        case .data(let data): return data
        case .notEncodable(let why): throw MultipartError(.notEncodable(why), at: index, of: part)
        case .file, .stream: throw MultipartError(.notInMemory, at: index, of: part)
        }
    }
}
