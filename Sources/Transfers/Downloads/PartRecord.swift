// SPDX-License-Identifier: MIT
import TargetKit
import _TargetKitFiles
import TargetKitPlugins

/// The information with which a later call can continue an incomplete file.
struct PartRecord: Codable, Sendable, Hashable {
    /// Identifies the version of the server's file (RFC 9110 §8.8).
    enum Validator: Codable, Sendable, Hashable {
        case entityTag(String)
        case lastModified(String)

        /// The value for `If-Range`.
        var field: String {
            switch self {
            case .entityTag(let field), .lastModified(let field): field
            }
        }
    }

    /// A range of the file that is requested separately.
    struct Segment: Codable, Sendable, Hashable {
        let start: Int64
        /// The position after its last byte.
        let end: Int64
        /// The position after the last byte that has been flushed to permanent storage.
        var syncedEnd: Int64
    }

    /// The SHA-256 digest of the file's identity, which is usually the request's URL, because it can contain secrets.
    var identity: String
    /// The SHA-256 digest of the URL that the response came from, without the query and fragment, because a signature
    /// in them may change.
    var source: String
    var validator: Validator
    /// The owner of the bytes.
    var owner: PartOwner
    /// The complete length in bytes; `nil` until it is known.
    var length: Int64?
    /// The number of bytes that have been flushed to permanent storage.
    var syncedByteCount: Int64 = 0
    /// The segments in order; `nil` if the file isn't divided.
    var segments: [Segment]?
    /// Identifies the positions file that belongs to the record.
    var positions: UInt64?
    /// The boot during which the bytes were written; `nil` if the system doesn't identify it.
    var boot = Boot.current
    /// The `Content-Disposition` of the first response, because the response to a range may lack it.
    var disposition: String?
    /// The `Repr-Digest` of the first response.
    var digest: String?

    /// Creates a record for a complete response; `nil` if the response has no strong validator, has a content coding,
    /// or can't be attributed to an owner.
    init?(_ head: ResponseHead, of identity: String, by requester: DownloadRequester, from source: URL) {
        let headers = head.headers
        guard head.statusCode == 200, headers.isUncoded, let validator = Validator(headers),
            let owner = PartOwner(of: headers, to: requester)
        else { return nil }
        self.validator = validator
        self.owner = owner
        self.identity = SHA256Hasher.hexadecimal(of: identity)
        self.source = Self.digest(ofSource: source)
        length = headers.contentLength
        disposition = headers.values(for: .contentDisposition).first
        digest = headers.values(for: .reprDigest).first
    }

    /// Whether bytes of the part have been flushed to permanent storage.
    var hasFlushedBytes: Bool {
        syncedByteCount > 0 || segments?.contains { $0.syncedEnd > $0.start } == true
    }

    static func digest(ofSource url: URL) -> String {
        var components = URLComponents(url: url, resolvingAgainstBaseURL: true)
        components?.query = nil
        components?.fragment = nil
        return SHA256Hasher.hexadecimal(of: components?.string ?? url.absoluteString)
    }
}

// MARK: - The file of the record

extension PartRecord {
    /// The record in a file's contents; `nil` if they are damaged, or were written by another version.
    init?(_ data: Data) {
        guard let stored = ChecksummedRecord<Self>(data), stored.record.isPlausible else { return nil }
        self = stored.record
    }

    /// The contents of the record's file.
    var data: Data {
        get throws { try ChecksummedRecord(self).data }
    }

    private var isPlausible: Bool {
        guard syncedByteCount >= 0, length ?? 0 >= 0, segments.map(isPlausible) ?? true else { return false }
        return switch validator {
        case .entityTag(let tag): Validator.isStrong(tag)
        case .lastModified(let date): HTTPDate.parse(date, now: Date()) != nil
        }
    }
}

extension PartRecord {
    /// Whether the segments cover the file.
    private func isPlausible(_ segments: [Segment]) -> Bool {
        var end: Int64 = 0
        for segment in segments {
            guard segment.start == end, segment.end > segment.start,
                (segment.start...segment.end).contains(segment.syncedEnd)
            else { return false }
            end = segment.end
        }
        return end == length && positions != nil
    }
}

// MARK: - Validators

extension PartRecord.Validator {
    /// The strong validator of a response; `nil` if there is none.
    init?(_ headers: HTTPHeaders) {
        let tags = headers.values(for: .eTag)
        guard tags.isEmpty else {
            // A date must not be used if the response has an entity tag (RFC 9110 §13.1.5).
            guard tags.count == 1, Self.isStrong(tags[0]) else { return nil }
            self = .entityTag(tags[0])
            return
        }
        let dates = headers.values(for: .lastModified)
        let now = Date()
        guard dates.count == 1, let modified = HTTPDate.parse(dates[0], now: now),
            let sent = headers[.date].flatMap({ HTTPDate.parse($0, now: now) }),
            // The file may have changed again in the same second (RFC 9110 §8.8.2.2).
            sent.timeIntervalSince(modified) >= 1
        else { return nil }
        self = .lastModified(dates[0])
    }

    /// Whether a value is a strong entity tag (RFC 9110 §8.8.3).
    static func isStrong(_ tag: String) -> Bool {
        guard tag.utf8.count >= 2, tag.hasPrefix("\""), tag.hasSuffix("\"") else { return false }
        return tag.utf8.dropFirst().dropLast().allSatisfy { $0 == 0x21 || (0x23...0x7E).contains($0) || $0 >= 0x80 }
    }

    /// Whether a response has the same version.
    ///
    /// - Parameter isOfRange: Whether the response is the requested range. It may omit the date for which `If-Range`
    ///   asked, but not the entity tag (RFC 9110 §15.3.7).
    func matches(_ headers: HTTPHeaders, isOfRange: Bool = false) -> Bool {
        switch self {
        case .entityTag(let tag): return headers.values(for: .eTag) == [tag]
        case .lastModified(let date):
            let dates = headers.values(for: .lastModified)
            return headers.values(for: .eTag).isEmpty && (dates == [date] || isOfRange && dates.isEmpty)
        }
    }
}

extension HTTPHeaderName {
    static let acceptRanges = Self(rawValue: "Accept-Ranges")
    static let date = Self(rawValue: "Date")
    static let ifRange = Self(rawValue: "If-Range")
    static let lastModified = Self(rawValue: "Last-Modified")
    static let range = Self(rawValue: "Range")
}

/// A boot of the operating system. Bytes that a process wrote survive its end, but are lost if the system stops before
/// flushing them.
enum Boot {
    /// Identifies the current boot; `nil` if the system doesn't.
    static let current: String? = {
        #if canImport(Darwin)
        var size = 0
        guard sysctlbyname("kern.bootsessionuuid", nil, &size, nil, 0) == 0, size > 1 else { return nil }
        var text = [UInt8](repeating: 0, count: size)
        guard sysctlbyname("kern.bootsessionuuid", &text, &size, nil, 0) == 0 else { return nil }
        return String(decoding: text.prefix { $0 != 0 }, as: UTF8.self)
        #else
        guard let text = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8) else {
            return nil
        }
        let identifier = text.trimmingCharacters(in: .whitespacesAndNewlines)
        return identifier.isEmpty ? nil : identifier
        #endif
    }()
}
