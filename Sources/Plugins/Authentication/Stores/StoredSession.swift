// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// A credential and the identifier of its session, as the stores of this module write them.
struct StoredSession<Credential: Codable>: Codable {
    let credential: Credential
    let session: String

    /// Reads what a store contains: a session or, if it was written without an identifier, a credential.
    ///
    /// The identifier of the latter is a digest of the data, so that it is the same in each process and after each
    /// launch.
    static func read(_ data: Data) throws -> (credential: Credential, session: String) {
        let decoder = JSONDecoder()
        if let stored = try? decoder.decode(Self.self, from: data) { return (stored.credential, stored.session) }
        let credential = try decoder.decode(Credential.self, from: data)
        return (credential, MessageDigest.hexadecimal(MessageDigest.sha256.bytes(of: Array(data))))
    }
}
