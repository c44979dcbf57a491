// SPDX-License-Identifier: MIT
import TargetKit

#if canImport(Security)
import Security
#endif

/// The rules that determine which servers a session trusts.
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

    /// Returns the evaluator of a host; `nil` if it has none and needs none. If an override returns an evaluator other
    /// than the one in ``evaluators``, calls to the host fail.
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
/// TargetKit's transports check servers with a `TLSPolicy`, which the session derives from the evaluators of this
/// module. Calls to a host with the app's own evaluator fail, because a policy can't express it.
public protocol ServerTrustEvaluating {
    #if canImport(Security)
    /// Checks a server.
    ///
    /// - Throws: An error if the server isn't trusted.
    func evaluate(_ trust: SecTrust, forHost host: String) throws
    #endif
}

#if canImport(Security)
extension ServerTrustEvaluating {
    /// Does nothing, because the transport checks servers with the session's policy.
    public func evaluate(_ trust: SecTrust, forHost host: String) throws {}
}
#endif

/// Trusts the servers that the system trusts.
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

/// Trusts servers with one of the app's certificates.
///
/// The public key of the server's own certificate must match one of the app's certificates. Therefore a renewed
/// certificate with the same key is accepted, but a pinned authority's certificate doesn't match. With
/// `acceptSelfSignedCertificates`, the app's certificates are instead the only trusted authorities for the host.
public final class PinnedCertificatesTrustEvaluator: PolicyTrustEvaluating {
    let rule: ServerTrustRule

    #if canImport(Security)
    /// Creates an evaluator.
    ///
    /// - Parameters:
    ///   - certificates: The certificates; default: those in the app's main bundle.
    ///   - acceptSelfSignedCertificates: Whether the certificates replace the system's authorities; default: no.
    ///   - performDefaultValidation: Whether the server's certificate is validated; default: yes. Validation is skipped
    ///     only if both this and `validateHost` are `false`.
    ///   - validateHost: Whether the host is validated; default: yes.
    public convenience init(
        certificates: [SecCertificate] = Bundle.main.af.certificates,
        acceptSelfSignedCertificates: Bool = false,
        performDefaultValidation: Bool = true,
        validateHost: Bool = true
    ) {
        self.init(
            certificates: certificates.map { SecCertificateCopyData($0) as Data },
            acceptSelfSignedCertificates: acceptSelfSignedCertificates,
            isValidated: performDefaultValidation || validateHost
        )
    }
    #else
    /// Creates an evaluator with the certificates in the program's main bundle.
    ///
    /// - Parameters:
    ///   - acceptSelfSignedCertificates: Whether the certificates replace the system's authorities; default: no.
    ///   - performDefaultValidation: Whether the server's certificate is validated; default: yes. Validation is skipped
    ///     only if both this and `validateHost` are `false`.
    ///   - validateHost: Whether the host is validated; default: yes.
    public convenience init(
        acceptSelfSignedCertificates: Bool = false,
        performDefaultValidation: Bool = true,
        validateHost: Bool = true
    ) {
        self.init(
            certificates: BundledCertificates(bundle: .main).data,
            acceptSelfSignedCertificates: acceptSelfSignedCertificates,
            isValidated: performDefaultValidation || validateHost
        )
    }
    #endif

    /// Creates an evaluator with certificates in DER.
    package init(certificates: [Data], acceptSelfSignedCertificates: Bool = false, isValidated: Bool = true) {
        rule =
            switch (acceptSelfSignedCertificates, isValidated) {
            case (_, false): .keys(ofCertificates: certificates, isValidated: false)
            case (true, true): .authorities(certificates)
            case (false, true): .keys(ofCertificates: certificates, isValidated: true)
            }
    }
}

/// Trusts servers with the public key of one of the certificates in the app's main bundle.
public final class PublicKeysTrustEvaluator: PolicyTrustEvaluating {
    let rule: ServerTrustRule

    /// Creates an evaluator with the keys of the certificates in the app's main bundle.
    ///
    /// - Parameters:
    ///   - performDefaultValidation: Whether the server's certificate is validated; default: yes. Validation is skipped
    ///     only if both this and `validateHost` are `false`.
    ///   - validateHost: Whether the host is validated; default: yes.
    public init(performDefaultValidation: Bool = true, validateHost: Bool = true) {
        rule = .keys(
            ofCertificates: BundledCertificates(bundle: .main).data,
            isValidated: performDefaultValidation || validateHost
        )
    }
}

/// Trusts servers that all evaluators trust.
public final class CompositeTrustEvaluator: PolicyTrustEvaluating {
    private let evaluators: [any ServerTrustEvaluating]

    var rule: ServerTrustRule { .all(evaluators) }

    /// Creates an evaluator.
    public init(evaluators: [any ServerTrustEvaluating]) {
        self.evaluators = evaluators
    }
}

/// The certificates among a bundle's resources, for example `Bundle.main.af.certificates`.
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
