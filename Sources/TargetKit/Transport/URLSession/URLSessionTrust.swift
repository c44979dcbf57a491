// SPDX-License-Identifier: MIT
#if canImport(Security)
import CryptoKit
import Security

extension TLSPolicy {
    /// Responds to an authentication challenge of URLSession once, immediately for the system's default handling,
    /// otherwise later on another queue.
    ///
    /// - Parameter fail: Called first if the challenge is cancelled, with the error of the call.
    package func answer(
        _ challenge: URLAuthenticationChallenge,
        for url: URL,
        fail: @escaping @Sendable (URLError) -> Void,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        URLSessionTrust(policy: self, url: url).answer(challenge) { answer in
            if let failure = answer.failure { fail(failure.error(for: url)) }
            completionHandler(answer.disposition, answer.credential)
        }
    }
}

/// Responds to URLSession's authentication challenges according to a ``TLSPolicy``, on Apple platforms.
private struct URLSessionTrust: Sendable {
    /// The disposition of a challenge, and the failure of the call if the challenge is cancelled.
    struct Answer {
        var disposition: URLSession.AuthChallengeDisposition
        var credential: URLCredential?
        var failure: TransportFailure?
    }

    /// The queue on which certificates are evaluated, because evaluation can use the network and would block all calls
    /// on the session's queue.
    private static let queue = DispatchQueue(label: "TargetKit.URLSessionTrust")

    let policy: TLSPolicy
    let url: URL

    func answer(_ challenge: URLAuthenticationChallenge, then tell: @escaping @Sendable (Answer) -> Void) {
        let space = challenge.protectionSpace
        switch space.authenticationMethod {
        case NSURLAuthenticationMethodServerTrust where !usesSystemEvaluation(space.host):
            Self.queue.async { evaluate(space, then: tell) }
        case NSURLAuthenticationMethodClientCertificate where policy.clientCertificate != nil:
            Self.queue.async { tell(answerClientCertificate()) }
        case NSURLAuthenticationMethodNTLM, NSURLAuthenticationMethodNegotiate:
            // The system would respond with the ticket of the user who is signed in to the device. A 401 belongs to the
            // plugins; a proxy is part of the device's configuration.
            tell(Answer(disposition: space.isProxy() ? .performDefaultHandling : .rejectProtectionSpace))
        default:
            tell(Answer(disposition: .performDefaultHandling))
        }
    }

    /// Whether the policy has no requirements for the host beyond the system's.
    private func usesSystemEvaluation(_ host: String) -> Bool {
        guard policy.pinnedKeys(for: host) == nil else { return false }
        switch policy.trust {
        case .system: return true
        case .insecureTrustAll: return !policy.trustsBlindly(host)
        case .authorities, .authoritiesFile: return false
        }
    }

    /// Evaluates a server's certificate on the queue.
    private func evaluate(_ space: URLProtectionSpace, then tell: @escaping @Sendable (Answer) -> Void) {
        guard let trust = space.serverTrust else { return tell(Answer(disposition: .performDefaultHandling)) }
        let host = space.host
        if policy.trustsBlindly(host) { return tell(answerTrusted(trust, host: host)) }
        do {
            try restrictAuthorities(of: trust)
        } catch {
            return tell(refuse(.serverCertificateHasUnknownRoot, "the file with the authorities can't be read"))
        }
        let untrusted = { @Sendable in
            refuse(.serverCertificateUntrusted, "the server's certificate isn't trusted")
        }
        let isTold = Locked(false)
        let tellOnce = { @Sendable (answer: Answer) in
            let wasTold = isTold.withLock { isTold in
                defer { isTold = true }
                return isTold
            }
            if !wasTold { tell(answer) }
        }
        // The documentation requires calling this function on the queue that is passed.
        let status = SecTrustEvaluateAsyncWithError(trust, Self.queue) { trust, isTrusted, _ in
            tellOnce(isTrusted ? answerTrusted(trust, host: host) : untrusted())
        }
        if status != errSecSuccess { tellOnce(untrusted()) }
    }

    /// The disposition for a trusted certificate, which may also have to match a pinned key.
    private func answerTrusted(_ trust: SecTrust, host: String) -> Answer {
        guard let keys = policy.pinnedKeys(for: host), !keys.contains(Self.pin(of: trust) ?? "") else {
            return Answer(disposition: .useCredential, credential: URLCredential(trust: trust))
        }
        var answer = refuse(.serverCertificateUntrusted, "the server's key isn't one of the pinned keys")
        answer.failure?.info[NSUnderlyingErrorKey] = TLSPolicy.PinMismatch(host: host)
        return answer
    }

    private func restrictAuthorities(of trust: SecTrust) throws {
        let pem: Data
        switch policy.trust {
        case .system, .insecureTrustAll: return
        case .authorities(let data): pem = data
        case .authoritiesFile(let file): pem = try Data(contentsOf: file)
        }
        let certificates = CertificateKey.certificates(inPEM: pem).compactMap {
            SecCertificateCreateWithData(nil, $0 as CFData)
        }
        SecTrustSetAnchorCertificates(trust, certificates as CFArray)
        SecTrustSetAnchorCertificatesOnly(trust, true)
    }

    /// The pin of a server's certificate, the Base64 of the SHA-256 of its key.
    private static func pin(of trust: SecTrust) -> String? {
        guard let chain = SecTrustCopyCertificateChain(trust) as? [SecCertificate], let leaf = chain.first else {
            return nil
        }
        let key = CertificateKey.subjectPublicKeyInfo(ofCertificate: SecCertificateCopyData(leaf) as Data)
        return key.map { Data(SHA256.hash(data: $0)).base64EncodedString() }
    }

    private func answerClientCertificate() -> Answer {
        guard let certificate = policy.clientCertificate else { return Answer(disposition: .performDefaultHandling) }
        do throws(TransportFailure) {
            let credential = try ClientIdentities.shared.credential(for: certificate)
            return Answer(disposition: .useCredential, credential: credential)
        } catch {
            return Answer(disposition: .cancelAuthenticationChallenge, failure: error)
        }
    }

    private func refuse(_ code: URLError.Code, _ message: String) -> Answer {
        let failure = TransportFailure(code, message: message)
        return Answer(disposition: .cancelAuthenticationChallenge, failure: failure)
    }
}
#endif
