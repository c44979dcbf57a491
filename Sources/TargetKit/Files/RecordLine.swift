// SPDX-License-Identifier: MIT
import Foundation

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
            let reason = "the record cannot be encoded: \(ErrorDescription(error))"
            throw .unusable(path: "\(type(of: record))", reason: reason)
        }
    }

    /// The record of a line without its line feed; `nil` if it is damaged, or this version of the app cannot decode it.
    static func decoded<Record: Decodable>(_ line: Data, with decoder: JSONDecoder) -> Record? {
        let json = line.dropFirst(digestSize + 1)
        guard !json.isEmpty, line.prefix(digestSize + 1).elementsEqual(start(of: json)) else { return nil }
        return try? decoder.decode(Record.self, from: Data(json))
    }

    /// The prefix of a record in its line.
    private static func start(of json: Data) -> Data {
        let digest = MessageDigest.sha256.hexadecimal(of: json)
        return Data((digest.prefix(digestSize) + " ").utf8)
    }
}

/// The complete lines at the start of data.
struct RecordLines<Record: Decodable> {
    /// The number of bytes of complete lines.
    let size: Int
    private(set) var records: [Record] = []
    /// The lines that are not records.
    private(set) var unreadable: [Data] = []

    init(_ data: Data) {
        size = data.lastIndex(of: UInt8(ascii: "\n")).map { $0 - data.startIndex + 1 } ?? 0
        let decoder = JSONDecoder()
        for line in data.prefix(size).split(separator: UInt8(ascii: "\n")) {
            if let record: Record = RecordLine.decoded(Data(line), with: decoder) {
                records.append(record)
            } else {
                unreadable.append(Data(line))
            }
        }
    }
}
