// SPDX-License-Identifier: MIT

/// A line of a file of records: 16 hexadecimal digits of the SHA-256 of a record's JSON, a space, the JSON, and a line
/// feed.
enum RecordLine {
    /// The number of digits before a record.
    private static let digestSize = 16

    /// The line of a record.
    static func encoded(_ record: some Encodable) throws(RecordLogFailure) -> Data {
        do {
            let json = try JSONEncoder.ofRecords.encode(record)
            return start(of: json) + json + [UInt8(ascii: "\n")]
        } catch {
            throw .unusable(path: "\(type(of: record))", reason: "the record can't be encoded: \(text(of: error))")
        }
    }

    /// The error without the value, which can be a secret.
    private static func text(of error: any Error) -> String {
        guard case EncodingError.invalidValue(let value, let context) = error else { return "\(type(of: error))" }
        return "a \(type(of: value)) at \(context.codingPath.map(\.stringValue).joined(separator: "."))"
    }

    /// The JSON of a line without its line feed; `nil` if the line is damaged.
    static func json(_ line: Data) -> Data? {
        let json = line.dropFirst(digestSize + 1)
        guard !json.isEmpty, line.prefix(digestSize + 1).elementsEqual(start(of: json)) else { return nil }
        return Data(json)
    }

    /// The lines in a damaged line. A damaged byte may have been the line feed between two lines or after the last
    /// line. Parts that aren't lines are returned unchanged.
    static func parts(ofDamaged line: Data) -> [Data] {
        let bytes = Array(line)
        var starts = bytes.indices.filter { $0 > 0 && isStart(bytes[$0...]) }
        starts.insert(0, at: 0)
        return zip(starts, starts.dropFirst().map { $0 - 1 } + [bytes.count]).filter { $0 < $1 }.map { start, end in
            let part = Data(bytes[start..<end])
            return json(part) == nil && json(part.dropLast()) != nil ? Data(part.dropLast()) : part
        }
    }

    /// Whether data is a prefix of a line or begins like a line, apart from one damaged byte.
    static func isPlausible(_ data: Data) -> Bool {
        let beginning = data.prefix(digestSize + 2)
        let damages = zip(beginning, 0...).count { byte, index in !isExpected(byte, at: index) }
        return damages == 0 || damages == 1 && beginning.count == digestSize + 2
    }

    private static func isStart(_ bytes: ArraySlice<UInt8>) -> Bool {
        let beginning = bytes.prefix(digestSize + 2)
        return beginning.count == digestSize + 2
            && zip(beginning, 0...).allSatisfy { byte, index in isExpected(byte, at: index) }
    }

    /// Whether a line can have a byte at an index.
    private static func isExpected(_ byte: UInt8, at index: Int) -> Bool {
        switch index {
        case digestSize: byte == UInt8(ascii: " ")
        case digestSize + 1: byte == UInt8(ascii: "{")
        default:
            byte.isDigit
                || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
        }
    }

    /// The prefix of a record in its line.
    private static func start(of json: Data) -> Data {
        let digest = SHA256Hasher.hexadecimal(of: json)
        return Data((digest.prefix(digestSize) + " ").utf8)
    }
}

/// The lines of data that begins at the start of a line.
struct RecordLines<Record: Decodable> {
    /// The size of the lines that have a line feed, in bytes.
    let size: Int
    private(set) var records: [Record] = []
    /// The lines that aren't records.
    private(set) var unreadable: [Data] = []
    /// Whether the last line is complete except for a missing or damaged line feed.
    private(set) var lacksLineFeed = false
    private var hasIntactLine = false
    private let decoder = JSONDecoder()

    /// - Parameter readsTail: Whether a complete line without its line feed is read.
    init(_ data: Data, readsTail: Bool = true) {
        size = data.lastIndex(of: UInt8(ascii: "\n")).map { $0 - data.startIndex + 1 } ?? 0
        for line in data.prefix(size).split(separator: UInt8(ascii: "\n")) { read(Data(line)) }
        let tail = Data(data.dropFirst(size))
        guard readsTail, RecordLine.parts(ofDamaged: tail).contains(where: { RecordLine.json($0) != nil }) else {
            return
        }
        lacksLineFeed = true
        read(tail)
    }

    private mutating func read(_ line: Data) {
        for part in RecordLine.json(line) == nil ? RecordLine.parts(ofDamaged: line) : [line] {
            let json = RecordLine.json(part)
            if json != nil { hasIntactLine = true }
            if let json, let record = try? decoder.decode(Record.self, from: json) {
                records.append(record)
            } else {
                unreadable.append(part)
            }
        }
    }

    /// Whether a file with these contents has another format and must not be changed. A crash can leave behind an
    /// incomplete first line or a file of zeros, so these are accepted.
    func isForeign(_ data: Data) -> Bool {
        !hasIntactLine && !RecordLine.isPlausible(data) && !data.allSatisfy { $0 == 0 }
    }
}

extension JSONEncoder {
    /// An encoder whose output is one line, and is equal for equal records.
    package static var ofRecords: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }
}
