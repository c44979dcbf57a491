// SPDX-License-Identifier: MIT
import TargetKit
import _TargetKitFiles

/// A credential and the identifier of its session, in the format of this module's stores.
struct StoredSession<Credential: Codable>: Codable {
    let credential: Credential
    let session: String

    /// Reads the contents of a store: a session, or a credential that was written without an identifier.
    ///
    /// The identifier of such a credential is a digest of the data, so that it is equal in all processes and after each
    /// launch.
    static func read(_ data: Data) throws -> (credential: Credential, session: String) {
        let decoder = JSONDecoder()
        if let stored = try? decoder.decode(Self.self, from: data) { return (stored.credential, stored.session) }
        let credential = try decoder.decode(Credential.self, from: data)
        return (credential, SHA256Hasher.hexadecimal(of: data))
    }
}
