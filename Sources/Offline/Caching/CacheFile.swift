// SPDX-License-Identifier: MIT
import TargetKit

/// The file format of a stored response: a mark with the version, a checksum of the rest, the size of the head, the
/// head, and the body. Numbers are little-endian.
enum CacheFile {
    private static let mark: [UInt8] = Array("TKC1".utf8)
    static let prefixSize = 16

    static func data(of response: CachedResponse) -> Data {
        var head = FieldWriter()
        head.write(response.key.url)
        head.write(response.key.user ?? "")
        head.write(response.variant.digest ?? "")
        head.write(UInt64(response.variant.names.count))
        for name in response.variant.names { head.write(name) }
        head.write(UInt64(response.statusCode))
        head.write(response.httpVersion)
        head.write(response.requestTime.timeIntervalSince1970.bitPattern)
        head.write(response.responseTime.timeIntervalSince1970.bitPattern)
        head.write(UInt64(response.headers.fields.count))
        for field in response.headers.fields {
            head.write(field.name.rawValue)
            head.write(field.value)
        }
        var data = Data(capacity: prefixSize + head.bytes.count + response.body.count)
        data.append(contentsOf: mark)
        data.append(contentsOf: [UInt8](repeating: 0, count: 8))
        withUnsafeBytes(of: UInt32(head.bytes.count).littleEndian) { data.append(contentsOf: $0) }
        data.append(contentsOf: head.bytes)
        data.append(response.body)
        let checksum = data.withUnsafeBytes { Self.checksum(UnsafeRawBufferPointer(rebasing: $0[12...])) }
        withUnsafeBytes(of: checksum.littleEndian) { data.replaceSubrange(4..<12, with: $0) }
        return data
    }

    /// The response in a file's contents; `nil` if they are damaged, or were written by another version.
    static func response(in bytes: UnsafeRawBufferPointer, usesHeuristics: Bool) -> CachedResponse? {
        guard bytes.count > prefixSize, bytes.prefix(4).elementsEqual(mark) else { return nil }
        let checksum = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt64.self))
        guard checksum == Self.checksum(UnsafeRawBufferPointer(rebasing: bytes[12...])) else { return nil }
        let headSize = Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 12, as: UInt32.self)))
        guard headSize <= bytes.count - prefixSize else { return nil }
        var head = FieldReader(UnsafeRawBufferPointer(rebasing: bytes[prefixSize..<prefixSize + headSize]))
        guard let url = head.text(), let user = head.text(), let digest = head.text(),
            let names = head.list({ $0.text() }),
            let status = head.number(), let statusCode = Int(exactly: status), let httpVersion = head.text(),
            let requestTime = head.number(),
            let responseTime = head.number(),
            let fields = head.list({ reader -> HTTPHeaders.Field? in
                guard let name = reader.text(), let value = reader.text() else { return nil }
                return HTTPHeaders.Field(name: HTTPHeaderName(rawValue: name), value: value)
            })
        else { return nil }
        let times = [requestTime, responseTime].map(Double.init(bitPattern:))
        // Other times can't be compared with the current time.
        guard times.allSatisfy({ abs($0) < 1e12 }) else { return nil }
        return CachedResponse(
            key: CacheKey(url: url, user: user.isEmpty ? nil : user),
            variant: CacheVariant(names: names, digest: digest.isEmpty ? nil : digest),
            statusCode: statusCode,
            httpVersion: httpVersion,
            headers: HTTPHeaders(fields),
            body: Data(bytes[(prefixSize + headSize)...]),
            requestTime: Date(timeIntervalSince1970: times[0]),
            responseTime: Date(timeIntervalSince1970: times[1]),
            usesHeuristics: usesHeuristics
        )
    }

    /// The description of the response in a file, without verifying the checksum; `nil` if the file can't be read.
    static func entry(at path: String) -> ResponseCache.Entry? {
        guard case .contents(let start) = CacheEntryFile.contents(of: path, limit: 4096), start.count > prefixSize
        else {
            return nil
        }
        let headSize = start.withUnsafeBytes {
            Int(UInt32(littleEndian: $0.loadUnaligned(fromByteOffset: 12, as: UInt32.self)))
        }
        var bytes = start
        if headSize > start.count - prefixSize {
            guard case .contents(let head) = CacheEntryFile.contents(of: path, limit: prefixSize + headSize) else {
                return nil
            }
            bytes = head
        }
        return bytes.withUnsafeBytes { bytes in
            var head = FieldReader(UnsafeRawBufferPointer(rebasing: bytes[prefixSize...]))
            guard let text = head.text(), let url = URL(string: text), let user = head.text(), head.text() != nil,
                head.list({ $0.text() }) != nil, head.number() != nil, head.text() != nil, head.number() != nil,
                let time = head.number()
            else { return nil }
            let date = Date(timeIntervalSince1970: Double(bitPattern: time))
            return ResponseCache.Entry(url: url, date: date, isPersonal: !user.isEmpty)
        }
    }

    /// A checksum that detects damage, but not deliberate changes: 64-bit FNV-1a over words of eight bytes.
    static func checksum(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325 ^ UInt64(bytes.count)
        func add(_ word: UInt64) {
            hash = (hash ^ word) &* 0x0000_0100_0000_01b3
            hash ^= hash >> 29
        }
        let words = bytes.count / 8
        for index in 0..<words {
            add(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self)))
        }
        for index in words * 8..<bytes.count { add(UInt64(bytes[index])) }
        return hash
    }
}

private struct FieldWriter {
    private(set) var bytes: [UInt8] = []

    init() { bytes.reserveCapacity(1024) }

    mutating func write(_ number: UInt64) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func write(_ text: String) {
        write(UInt64(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }
}

private struct FieldReader {
    private var rest: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) { rest = bytes }

    mutating func number() -> UInt64? {
        guard rest.count >= 8 else { return nil }
        defer { rest = UnsafeRawBufferPointer(rebasing: rest[8...]) }
        return UInt64(littleEndian: rest.loadUnaligned(as: UInt64.self))
    }

    mutating func text() -> String? {
        guard let count = number(), count <= UInt64(rest.count) else { return nil }
        defer { rest = UnsafeRawBufferPointer(rebasing: rest[Int(count)...]) }
        return String(decoding: rest[..<Int(count)], as: UTF8.self)
    }

    /// Reads a count and that many elements.
    mutating func list<Element>(_ element: (inout FieldReader) -> Element?) -> [Element]? {
        // Each element has at least eight bytes.
        guard let count = number(), count <= UInt64(rest.count) / 8 else { return nil }
        var elements: [Element] = []
        for _ in 0..<count {
            guard let next = element(&self) else { return nil }
            elements.append(next)
        }
        return elements
    }
}
