// SPDX-License-Identifier: MIT
#if canImport(Security)
import Security

/// The identities of client certificates. Each is imported once, and again when its file changes.
///
/// Before macOS 15, an import adds the identity to the user's keychain; later, and on other systems, it stays in
/// memory.
final class ClientIdentities: Sendable {
    static let shared = ClientIdentities()

    private let credentials = Locked<[TLSPolicy.ClientCertificate: (contents: Data, credential: URLCredential)]>([:])

    /// The credential of a client certificate.
    func credential(for certificate: TLSPolicy.ClientCertificate) throws(TransportFailure) -> URLCredential {
        // The file is small, and is read once for each connection.
        guard let contents = try? Data(contentsOf: certificate.file) else {
            throw Self.failure("the client certificate \(certificate.file.path) can't be read")
        }
        let known = credentials.withLock { $0[certificate] }
        if let known, known.contents == contents { return known.credential }
        let credential = try Self.load(contents, of: certificate)
        credentials.withLock { $0[certificate] = (contents, credential) }
        return credential
    }

    private static func load(
        _ data: Data,
        of certificate: TLSPolicy.ClientCertificate
    ) throws(TransportFailure) -> URLCredential {
        guard let password = certificate.password, !password.isEmpty else {
            throw failure("the client certificate needs a password, which the system requires for PKCS#12")
        }
        var options: [CFString: Any] = [kSecImportExportPassphrase: password]
        #if os(macOS) || targetEnvironment(macCatalyst)
        if #available(macOS 15, macCatalyst 18, *) { options[kSecImportToMemoryOnly] = true }
        #endif
        var items: CFArray?
        guard SecPKCS12Import(data as CFData, options as CFDictionary, &items) == errSecSuccess,
            let item = (items as? [[String: Any]])?.first,
            let identity = item[kSecImportItemIdentity as String] as CFTypeRef?,
            CFGetTypeID(identity) == SecIdentityGetTypeID()
        else { throw failure("the client certificate isn't a PKCS#12 file with the given password") }
        return URLCredential(
            identity: unsafeDowncast(identity, to: SecIdentity.self),
            certificates: item[kSecImportItemCertChain as String] as? [Any],
            persistence: .none
        )
    }

    private static func failure(_ message: String) -> TransportFailure {
        TransportFailure(.clientCertificateRejected, message: message)
    }
}
#endif
