// SPDX-License-Identifier: MIT
#if canImport(Security)
import Foundation
import Security

/// The identities of client certificates. Each is imported once.
///
/// Before macOS 15, an import adds the identity to the user's keychain; later, and on other systems, it stays in
/// memory.
final class ClientIdentities: Sendable {
    /// The reason why a client certificate can't be used.
    struct Failure: Error {
        let words: String
    }

    static let shared = ClientIdentities()

    private let credentials = Locked<[TLSPolicy.ClientCertificate: URLCredential]>([:])

    /// The credential of a client certificate.
    func credential(for certificate: TLSPolicy.ClientCertificate) throws(Failure) -> URLCredential {
        if let known = credentials.withLock({ $0[certificate] }) { return known }
        let credential = try Self.load(certificate)
        credentials.withLock { $0[certificate] = credential }
        return credential
    }

    private static func load(_ certificate: TLSPolicy.ClientCertificate) throws(Failure) -> URLCredential {
        guard let data = try? Data(contentsOf: certificate.file) else {
            throw Failure(words: "the client certificate \(certificate.file.path) can't be read")
        }
        guard let password = certificate.password, !password.isEmpty else {
            throw Failure(
                words: "the client certificate needs a password, which the system requires for PKCS#12"
            )
        }
        var options: [CFString: Any] = [kSecImportExportPassphrase: password]
        #if os(macOS)
        if #available(macOS 15, *) { options[kSecImportToMemoryOnly] = true }
        #endif
        var items: CFArray?
        guard SecPKCS12Import(data as CFData, options as CFDictionary, &items) == errSecSuccess,
            let item = (items as? [[String: Any]])?.first,
            let identity = item[kSecImportItemIdentity as String] as CFTypeRef?,
            CFGetTypeID(identity) == SecIdentityGetTypeID()
        else { throw Failure(words: "the client certificate isn't a PKCS#12 file with the given password") }
        return URLCredential(
            identity: unsafeDowncast(identity, to: SecIdentity.self),
            certificates: item[kSecImportItemCertChain as String] as? [Any],
            persistence: .none
        )
    }
}
#endif
