// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

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
    /// `true` if the server has responded with an error to the request that completes the upload. The upload can be
    /// complete, but hasn't succeeded.
    var isRejected: Bool?
    /// The number of times in succession that the server of the upload hasn't responded in time.
    var timeouts: Int?
}

extension UploadRecord {
    /// The record in a file's contents; `nil` if they are damaged, or were written by another version.
    init?(_ data: Data) {
        guard let record = ChecksummedRecord<Self>(data)?.record, record.url.isCallable, record.length >= 0 else {
            return nil
        }
        self = record
    }

    /// The contents of the record's file.
    var data: Data {
        get throws { try ChecksummedRecord(self).data }
    }
}
