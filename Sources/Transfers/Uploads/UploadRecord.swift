// SPDX-License-Identifier: MIT
import TargetKit

/// The information with which a later call can continue an upload.
struct UploadRecord: Codable, Sendable, Hashable {
    /// The URL of the upload.
    var url: URL
    /// The origin at which the upload was created, to which the call's credentials belong.
    var origin: [String]
    /// The identifier of the user whose credential created the upload; `nil` if it isn't known.
    var owner: String?
    /// The SHA-256 digest of the content's version.
    var content: String
    var length: Int64
    /// The algorithm with which the server verifies each request.
    var checksum: UploadChecksum?
    var maxAppendSize: Int64?
    var minAppendSize: Int64?
    /// The time when the server removes the upload, in seconds since 1970.
    var expiry: Int64?
    /// `true` if the server responded with an error to the request that completes the upload. The upload can be
    /// complete, but it failed.
    var isRejected: Bool?
    /// The number of consecutive timeouts of the upload's server.
    var timeouts: Int?
}

extension UploadRecord {
    /// The record of an upload that exists at a URL.
    ///
    /// - Parameter request: The target's request, to whose origin the call's credentials belong.
    init(givenAt url: URL, for request: URLRequest, content: String, length: Int64) {
        self.init(url: url, origin: request.url?.origin ?? [], content: content, length: length)
    }

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
