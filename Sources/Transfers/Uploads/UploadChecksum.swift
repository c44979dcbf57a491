// SPDX-License-Identifier: MIT
import TargetKit
import _TargetKitStorage

/// The algorithm of the tus checksums, with which a server verifies each request.
enum UploadChecksum: String, Sendable, Codable {
    case sha256
    case sha1

    /// The best supported algorithm of a `Tus-Checksum-Algorithm` field; `nil` if none is supported.
    init?(listedIn field: String) {
        let names = field.listElements.map { $0.lowercased() }
        guard let best = [Self.sha256, .sha1].first(where: { names.contains($0.rawValue) }) else { return nil }
        self = best
    }

    /// Reads a body, and returns its `Upload-Checksum` value.
    func field(of body: TransportRequest.Body) throws -> String {
        var (sha256, sha1) = (SHA256Hasher(), SHA1Hasher())
        try body.source()?.readAll { bytes in
            switch self {
            case .sha256: sha256.update(bytes)
            case .sha1: sha1.update(bytes)
            }
        }
        let digest = self == .sha256 ? sha256.finalize() : sha1.finalize()
        return "\(rawValue) \(Data(digest).base64EncodedString())"
    }
}
