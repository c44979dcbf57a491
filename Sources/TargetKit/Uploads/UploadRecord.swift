// SPDX-License-Identifier: MIT
import Foundation

/// What has to be known of an upload so that a later call can continue it.
struct UploadRecord: Codable, Sendable, Hashable {
    /// The URL of the upload.
    var url: URL
    /// The origin that the upload was created at, which has the credentials of the call.
    var origin: [String]
    /// The SHA-256 of the version of the content.
    var content: String
    var length: Int64
    /// The algorithm with which the server checks each request.
    var checksum: UploadChecksum?
    var maxAppendSize: Int64?
    var minAppendSize: Int64?
    /// When the server removes the upload, in seconds since 1970.
    var expiry: Int64?
}

extension UploadRecord {
    private struct Stored: Codable {
        static let version = 1

        var version = Self.version
        var checksum: String
        var record: UploadRecord
    }

    /// The record in a file's contents; `nil` if they are damaged, or were written by another version.
    init?(_ data: Data) {
        guard let stored = try? JSONDecoder().decode(Stored.self, from: data), stored.version == Stored.version,
            stored.checksum == (try? stored.record.digest), stored.record.url.isCallable, stored.record.length >= 0
        else { return nil }
        self = stored.record
    }

    /// The contents of the record's file.
    var data: Data {
        get throws { try Self.encoder.encode(Stored(checksum: digest, record: self)) }
    }

    private var digest: String {
        get throws { PartRecord.digest(of: String(decoding: try Self.encoder.encode(self), as: UTF8.self)) }
    }

    private static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }
}
