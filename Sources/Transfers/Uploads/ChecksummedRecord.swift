// SPDX-License-Identifier: MIT
import TargetKit
import _TargetKitStorage

/// A record with its version and checksum, stored in a separate file.
struct ChecksummedRecord<Record: Codable>: Codable {
    private var version = 1
    private var checksum: String
    let record: Record

    init(_ record: Record) throws {
        self.record = record
        checksum = try Self.checksum(of: record)
    }

    /// The record in a file's contents; `nil` if they are damaged, or were written by another version.
    init?(_ data: Data) {
        guard let stored = try? JSONDecoder().decode(Self.self, from: data), stored.version == 1,
            stored.checksum == (try? Self.checksum(of: stored.record))
        else { return nil }
        self = stored
    }

    /// The contents of the record's file.
    var data: Data {
        get throws { try JSONEncoder.ofRecords.encode(self) }
    }

    private static func checksum(of record: Record) throws -> String {
        SHA256Hasher.hexadecimal(of: try JSONEncoder.ofRecords.encode(record))
    }
}
