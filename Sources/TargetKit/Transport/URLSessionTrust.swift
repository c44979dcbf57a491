// SPDX-License-Identifier: MIT
#if canImport(Security)
import CryptoKit
import Foundation
import Security

/// Answers URLSession's questions about TLS by a ``TLSPolicy``, on Apple's systems.
struct URLSessionTrust: Sendable {
    /// What URLSession is told, and the error that the call ends with when it is told to stop.
    struct Answer {
        var disposition: URLSession.AuthChallengeDisposition
        var credential: URLCredential?
        var failure: URLError?
    }

    let policy: TLSPolicy

    func answer(_ challenge: URLAuthenticationChallenge, for url: URL) -> Answer {
        switch challenge.protectionSpace.authenticationMethod {
        case NSURLAuthenticationMethodServerTrust: answerServerTrust(challenge.protectionSpace, for: url)
        case NSURLAuthenticationMethodClientCertificate: answerClientCertificate(for: url)
        default: Answer(disposition: .performDefaultHandling)
        }
    }

    private func answerServerTrust(_ space: URLProtectionSpace, for url: URL) -> Answer {
        guard let trust = space.serverTrust else { return Answer(disposition: .performDefaultHandling) }
        if !policy.trustsBlindly(space.host) {
            do {
                try restrictAuthorities(of: trust)
            } catch {
                return refuse(.serverCertificateHasUnknownRoot, "the file with the authorities cannot be read", for: url)
            }
            guard SecTrustEvaluateWithError(trust, nil) else {
                return refuse(.serverCertificateUntrusted, "the server's certificate is not trusted", for: url)
            }
        }
        if let keys = policy.pinnedKeys(for: space.host), !keys.contains(Self.pin(of: trust) ?? "") {
            var answer = refuse(.serverCertificateUntrusted, "the server's key is not one of the pinned ones", for: url)
            let mismatch = TLSPolicy.PinMismatch(host: space.host)
            answer.failure = answer.failure.map {
                URLError($0.code, userInfo: $0.userInfo.merging([NSUnderlyingErrorKey: mismatch]) { _, new in new })
            }
            return answer
        }
        return Answer(disposition: .useCredential, credential: URLCredential(trust: trust))
    }

    private func restrictAuthorities(of trust: SecTrust) throws {
        let pem: Data
        switch policy.trust {
        case .system, .insecureTrustAll: return
        case .authorities(let data): pem = data
        case .authoritiesFile(let file): pem = try Data(contentsOf: file)
        }
        let certificates = CertificateKey.certificates(inPEM: pem).compactMap { SecCertificateCreateWithData(nil, $0 as CFData) }
        SecTrustSetAnchorCertificates(trust, certificates as CFArray)
        SecTrustSetAnchorCertificatesOnly(trust, true)
    }

    private static func pin(of trust: SecTrust) -> String? {
        guard let chain = SecTrustCopyCertificateChain(trust) as? [SecCertificate], let leaf = chain.first else {
            return nil
        }
        return CertificateKey.subjectPublicKeyInfo(ofCertificate: SecCertificateCopyData(leaf) as Data)
            .map { Data(SHA256.hash(data: $0)).base64EncodedString() }
    }

    private func answerClientCertificate(for url: URL) -> Answer {
        guard let certificate = policy.clientCertificate else { return Answer(disposition: .performDefaultHandling) }
        var items: CFArray?
        let options = [kSecImportExportPassphrase: certificate.password ?? ""] as CFDictionary
        guard let data = try? Data(contentsOf: certificate.file),
            SecPKCS12Import(data as CFData, options, &items) == errSecSuccess,
            let item = (items as? [[String: Any]])?.first,
            let identity = item[kSecImportItemIdentity as String] as CFTypeRef?,
            CFGetTypeID(identity) == SecIdentityGetTypeID()
        else {
            return refuse(.clientCertificateRejected, "the client certificate is no PKCS#12 file with that password", for: url)
        }
        let chain = item[kSecImportItemCertChain as String] as? [Any]
        let credential = URLCredential(
            identity: unsafeDowncast(identity, to: SecIdentity.self),
            certificates: chain,
            persistence: .none
        )
        return Answer(disposition: .useCredential, credential: credential)
    }

    private func refuse(_ code: URLError.Code, _ message: String, for url: URL) -> Answer {
        Answer(
            disposition: .cancelAuthenticationChallenge,
            failure: URLSessionFailure.error(code, message, for: url)
        )
    }
}
#endif
