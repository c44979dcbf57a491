// SPDX-License-Identifier: MIT
import TargetKit
import _TargetKitFiles

/// An evaluator that a policy can express.
protocol PolicyTrustEvaluating: ServerTrustEvaluating {
    var rule: ServerTrustRule { get }
}

/// The rule for a host. Certificates are in DER.
enum ServerTrustRule {
    case system
    case disabled
    /// The server's key matches one of the certificates. If validated, the system must also trust the server's
    /// certificate.
    case keys(ofCertificates: [Data], isValidated: Bool)
    /// The server's certificate is one of these certificates, or is signed by one of them.
    case authorities([Data])
    /// All rules must be met.
    case all([any ServerTrustEvaluating])

    /// Whether the chain, the dates and the host are validated.
    var validates: Bool {
        switch self {
        case .system, .authorities: true
        case .keys(_, let isValidated): isValidated
        case .disabled, .all: false
        }
    }

    var hasAuthorities: Bool {
        if case .authorities = self { true } else { false }
    }
}

extension ServerTrustManager {
    /// The policy for all hosts except those with ``authorities``, without the app's own evaluators.
    var policy: TLSPolicy {
        var insecureHosts: [String] = []
        var pins: [String: [String]] = [:]
        // A pattern such as `*.example.com` isn't the name of a host.
        for (host, evaluator) in evaluators where !host.contains("*") {
            let rules = Self.rules(of: evaluator) ?? []
            // All rules must be met, so a single rule that validates the certificate is sufficient.
            if !rules.isEmpty, !rules.contains(where: \.validates) { insecureHosts.append(host) }
            pins[host] = Self.pins(of: rules)
        }
        return TLSPolicy(trust: insecureHosts.isEmpty ? .system : .insecureTrustAll(for: insecureHosts), pins: pins)
    }

    /// The policies of hosts with separate authorities, by lowercase host.
    var authorities: [String: TLSPolicy] {
        let pins = policy.pins
        var policies: [String: TLSPolicy] = [:]
        for (host, evaluator) in evaluators {
            for case .authorities(let certificates) in Self.rules(of: evaluator) ?? [] {
                let trust = TLSPolicy.Trust.authorities(pem: Data(certificates.map(Self.pem).joined().utf8))
                policies[host.lowercased()] = TLSPolicy(trust: trust, pins: pins)
            }
        }
        return policies
    }

    /// The pins that all rules with keys have in common; `nil` if there is no such rule.
    private static func pins(of rules: [ServerTrustRule]) -> [String]? {
        rules.reduce(nil) { common, rule in
            guard case .keys(let certificates, _) = rule else { return common }
            let pins = certificates.compactMap(CertificateKey.pin(of:))
            return common.map { $0.filter(pins.contains) } ?? pins
        }
    }

    /// Checks that the policy can express the rule of a host.
    ///
    /// - Throws: ``AFError/serverTrustEvaluationFailed(reason:)``.
    func check(_ host: String) throws(AFError) {
        let evaluator: (any ServerTrustEvaluating)?
        do {
            evaluator = try serverTrustEvaluator(forHost: host)
        } catch {
            throw error.asAFError(or: .serverTrustEvaluationFailed(reason: .customEvaluationFailed(error: error)))
        }
        // The policy is made from `evaluators`, so a different choice of a subclass would have no effect.
        guard evaluator.map({ $0 as AnyObject }) === evaluators[host].map({ $0 as AnyObject }) else {
            throw .serverTrustEvaluationFailed(reason: .customEvaluationFailed(error: UnsupportedEvaluator()))
        }
        guard let evaluator else { return }
        guard let rules = Self.rules(of: evaluator), rules.count(where: \.hasAuthorities) <= 1 else {
            throw .serverTrustEvaluationFailed(reason: .customEvaluationFailed(error: UnsupportedEvaluator()))
        }
        for case .authorities(let certificates) in rules
        where certificates.compactMap(CertificateKey.pin(of:)).isEmpty {
            throw .serverTrustEvaluationFailed(reason: .noCertificatesFound)
        }
        if Self.pins(of: rules)?.isEmpty == true {
            throw .serverTrustEvaluationFailed(reason: .noCertificatesFound)
        }
    }

    /// The simple rules of an evaluator; `nil` if one is the app's own evaluator.
    private static func rules(of evaluator: any ServerTrustEvaluating) -> [ServerTrustRule]? {
        guard let evaluator = evaluator as? any PolicyTrustEvaluating else { return nil }
        guard case .all(let evaluators) = evaluator.rule else { return [evaluator.rule] }
        let rules = evaluators.map(rules)
        return rules.contains { $0 == nil } ? nil : rules.flatMap { $0 ?? [] }
    }

    private static func pem(_ certificate: Data) -> String {
        let text = certificate.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN CERTIFICATE-----\n\(text)\n-----END CERTIFICATE-----\n"
    }
}

/// An error for an evaluator of the app or of a subclass of the manager, which a policy can't express.
struct UnsupportedEvaluator: LocalizedError {
    var errorDescription: String? {
        """
        The app's own evaluators, and evaluators that serverTrustEvaluator(forHost:) chooses instead of the manager's \
        evaluators, aren't supported. Use a TLSPolicy of TargetKit, or add the host to the manager's evaluators.
        """
    }
}

/// The underlying error if the session's manager doesn't trust a server.
struct UntrustedServer: ErrorWithKind {
    let error: AFError

    var kind: TargetKitError.Kind? { .insecureConnection }
}

/// Sends requests, including redirects, only to servers for which the session has a rule. Hosts with separate
/// authorities have separate transports.
struct TrustingTransport: Transport {
    let manager: Unchecked<ServerTrustManager>
    /// The transports of hosts with separate authorities, by lowercase host.
    let hosts: [String: any Transport]
    let others: any Transport

    var reportsInterimResponses: Bool {
        others.reportsInterimResponses && hosts.values.allSatisfy(\.reportsInterimResponses)
    }

    var streamsResponses: Bool { others.streamsResponses && hosts.values.allSatisfy(\.streamsResponses) }

    var upgradesConnections: Bool { others.upgradesConnections && hosts.values.allSatisfy(\.upgradesConnections) }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        guard let url = request.urlRequest.url, let host = url.host, url.scheme?.lowercased() == "https" else {
            return try await others.send(request)
        }
        do {
            try manager.value.check(host)
        } catch {
            throw URLError(.serverCertificateUntrusted, userInfo: [NSUnderlyingErrorKey: UntrustedServer(error: error)])
        }
        do {
            return try await (hosts[host.lowercased()] ?? others).send(request)
        } catch let error as URLError where Self.codes.contains(error.code) && manager.value.evaluators[host] != nil {
            let cause = UntrustedServer(
                error: .serverTrustEvaluationFailed(reason: .trustEvaluationFailed(error: error))
            )
            throw URLError(error.code, userInfo: error.userInfo.merging([NSUnderlyingErrorKey: cause]) { $1 })
        }
    }

    /// The error codes for untrusted servers.
    private static let codes: Set<URLError.Code> = [
        .serverCertificateUntrusted, .serverCertificateHasUnknownRoot, .serverCertificateHasBadDate,
        .serverCertificateNotYetValid,
    ]
}

extension CertificateKey {
    /// The pin of a certificate in DER, the Base64 of the SHA-256 of its key; `nil` if the bytes aren't a certificate.
    fileprivate static func pin(of certificate: Data) -> String? {
        subjectPublicKeyInfo(ofCertificate: certificate).map { Data(SHA256Hasher.digest(of: $0)).base64EncodedString() }
    }
}
