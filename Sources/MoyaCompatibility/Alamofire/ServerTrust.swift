// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(Security)
import Security
#endif

/// The rules for the hosts of a session: which servers it trusts.
open class ServerTrustManager {
    /// Whether a call to a host without an evaluator fails.
    public let allHostsMustBeEvaluated: Bool
    /// The evaluators of hosts.
    public let evaluators: [String: any ServerTrustEvaluating]

    /// Creates a manager.
    ///
    /// - Parameters:
    ///   - allHostsMustBeEvaluated: Whether a call to a host without an evaluator fails; default: yes.
    ///   - evaluators: The evaluators of hosts.
    public init(allHostsMustBeEvaluated: Bool = true, evaluators: [String: any ServerTrustEvaluating]) {
        self.allHostsMustBeEvaluated = allHostsMustBeEvaluated
        self.evaluators = evaluators
    }

    /// Returns the evaluator of a host; `nil` if it has none and needs none.
    ///
    /// - Throws: ``AFError/serverTrustEvaluationFailed(reason:)`` if the host needs an evaluator and has none.
    open func serverTrustEvaluator(forHost host: String) throws -> (any ServerTrustEvaluating)? {
        guard let evaluator = evaluators[host] else {
            if allHostsMustBeEvaluated {
                throw AFError.serverTrustEvaluationFailed(reason: .noRequiredEvaluator(host: host))
            }
            return nil
        }
        return evaluator
    }
}

/// Decides whether a server is trusted.
///
/// TargetKit's transports check servers by a `TLSPolicy` of TargetKit, which the session derives from the evaluators of
/// this module. A call to a host with an evaluator of the app's own fails: its rule cannot be expressed as a policy.
public protocol ServerTrustEvaluating {
    #if canImport(Security)
    /// Checks a server.
    ///
    /// - Throws: An error if the server is not trusted.
    func evaluate(_ trust: SecTrust, forHost host: String) throws
    #endif
}

/// An evaluator that a policy can express.
protocol PolicyTrustEvaluating: ServerTrustEvaluating {
    var rule: ServerTrustRule { get }
}

/// The rule for a host.
enum ServerTrustRule {
    case system
    case disabled
    /// The accepted certificates in DER.
    case certificates([Data])
    /// All of the rules.
    case all([any ServerTrustEvaluating])
}

#if canImport(Security)
extension ServerTrustEvaluating {
    /// Does nothing: the transport checks servers by the session's policy.
    public func evaluate(_ trust: SecTrust, forHost host: String) throws {}
}
#endif

/// Trusts what the system trusts.
public final class DefaultTrustEvaluator: PolicyTrustEvaluating {
    var rule: ServerTrustRule { .system }

    /// Creates an evaluator. The host is always validated.
    public init(validateHost: Bool = true) {}
}

/// **For development only.** Trusts every certificate.
public final class DisabledTrustEvaluator: PolicyTrustEvaluating {
    var rule: ServerTrustRule { .disabled }

    /// Creates an evaluator.
    public init() {}
}

/// Trusts servers with one of the app's certificates. The public keys of the certificates are compared, so that a
/// renewed certificate with the same key is accepted.
public final class PinnedCertificatesTrustEvaluator: PolicyTrustEvaluating {
    private let certificates: [Data]

    var rule: ServerTrustRule { .certificates(certificates) }

    #if canImport(Security)
    /// Creates an evaluator.
    ///
    /// - Parameters:
    ///   - certificates: The certificates; default: those in the app's main bundle.
    ///   - acceptSelfSignedCertificates: Has no effect: a self-signed certificate has to be trusted by the system.
    ///   - performDefaultValidation: Has no effect: the system's validation is always performed.
    ///   - validateHost: Has no effect: the host is always validated.
    public init(
        certificates: [SecCertificate] = Bundle.main.af.certificates,
        acceptSelfSignedCertificates: Bool = false,
        performDefaultValidation: Bool = true,
        validateHost: Bool = true
    ) {
        self.certificates = certificates.map { SecCertificateCopyData($0) as Data }
    }
    #else
    /// Creates an evaluator with the certificates in the program's main bundle.
    ///
    /// - Parameters:
    ///   - acceptSelfSignedCertificates: Has no effect: a self-signed certificate has to be trusted by the system.
    ///   - performDefaultValidation: Has no effect: the system's validation is always performed.
    ///   - validateHost: Has no effect: the host is always validated.
    public init(
        acceptSelfSignedCertificates: Bool = false,
        performDefaultValidation: Bool = true,
        validateHost: Bool = true
    ) {
        certificates = BundledCertificates(bundle: .main).data
    }
    #endif
}

/// Trusts servers with the public key of one of the certificates in the app's main bundle.
public final class PublicKeysTrustEvaluator: PolicyTrustEvaluating {
    private let certificates: [Data]

    var rule: ServerTrustRule { .certificates(certificates) }

    /// Creates an evaluator with the keys of the certificates in the app's main bundle.
    ///
    /// - Parameters:
    ///   - performDefaultValidation: Has no effect: the system's validation is always performed.
    ///   - validateHost: Has no effect: the host is always validated.
    public init(performDefaultValidation: Bool = true, validateHost: Bool = true) {
        certificates = BundledCertificates(bundle: .main).data
    }
}

/// Trusts servers that all of the evaluators trust.
public final class CompositeTrustEvaluator: PolicyTrustEvaluating {
    private let evaluators: [any ServerTrustEvaluating]

    var rule: ServerTrustRule { .all(evaluators) }

    /// Creates an evaluator.
    public init(evaluators: [any ServerTrustEvaluating]) {
        self.evaluators = evaluators
    }
}

/// The certificates among a bundle's resources: `Bundle.main.af.certificates`.
public struct BundledCertificates {
    let bundle: Bundle

    /// The certificates in DER.
    var data: [Data] {
        ["cer", "CER", "crt", "CRT", "der", "DER"]
            .flatMap { bundle.urls(forResourcesWithExtension: $0, subdirectory: nil) ?? [] }
            .compactMap { try? Data(contentsOf: $0 as URL) }
    }

    #if canImport(Security)
    /// The certificates.
    public var certificates: [SecCertificate] {
        data.compactMap { SecCertificateCreateWithData(nil, $0 as CFData) }
    }
    #endif
}

extension Bundle {
    /// The certificates among the bundle's resources.
    public var af: BundledCertificates { BundledCertificates(bundle: self) }
}

extension ServerTrustManager {
    /// The policy of the evaluators; evaluators of the app's own are left out.
    var policy: TLSPolicy {
        var insecureHosts: [String] = []
        var pins: [String: [String]] = [:]
        for (host, evaluator) in evaluators {
            for rule in Self.rules(of: evaluator) ?? [] {
                switch rule {
                case .disabled: insecureHosts.append(host)
                case .certificates(let certificates):
                    pins[host, default: []] += certificates.compactMap(CertificateKey.pin(ofCertificate:))
                case .system, .all: break
                }
            }
        }
        return TLSPolicy(trust: insecureHosts.isEmpty ? .system : .insecureTrustAll(for: insecureHosts), pins: pins)
    }

    /// Checks that the policy expresses the rule of a host.
    ///
    /// - Throws: ``AFError/serverTrustEvaluationFailed(reason:)``.
    func check(_ host: String) throws {
        guard let evaluator = try serverTrustEvaluator(forHost: host) else { return }
        guard let rules = Self.rules(of: evaluator) else {
            throw AFError.serverTrustEvaluationFailed(reason: .customEvaluationFailed(error: UnsupportedEvaluator()))
        }
        for case .certificates(let certificates) in rules
        where certificates.compactMap(CertificateKey.pin(ofCertificate:)).isEmpty {
            throw AFError.serverTrustEvaluationFailed(reason: .noCertificatesFound)
        }
    }

    /// The simple rules of an evaluator; `nil` if one is an evaluator of the app's own.
    private static func rules(of evaluator: any ServerTrustEvaluating) -> [ServerTrustRule]? {
        guard let evaluator = evaluator as? any PolicyTrustEvaluating else { return nil }
        guard case .all(let evaluators) = evaluator.rule else { return [evaluator.rule] }
        let rules = evaluators.map(rules)
        return rules.contains { $0 == nil } ? nil : rules.flatMap { $0 ?? [] }
    }
}

/// An evaluator of the app's own cannot be expressed as a policy.
struct UnsupportedEvaluator: LocalizedError {
    var errorDescription: String? {
        "Evaluators of the app's own are not supported: use a TLSPolicy of TargetKit, or an evaluator of this module."
    }
}
