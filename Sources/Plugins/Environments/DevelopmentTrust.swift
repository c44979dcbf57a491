// SPDX-License-Identifier: MIT
import TargetKit

/// The environments that trust any certificate during development.
struct DevelopmentTrust: Sendable {
    let names: Set<String>
    /// Whether this build allows trusting any certificate.
    let isAllowed: Bool
    /// Writes a line for the developer.
    var warn: @Sendable (String) -> Void = { try? FileHandle.standardError.write(contentsOf: Data("\($0)\n".utf8)) }

    /// Whether this is a debug build of the package.
    static var isDebugBuild: Bool {
        #if DEBUG
        true
        #else
        false
        #endif
    }

    /// Returns the environment with the trust policy for its transport.
    func applied(to environment: ServerEnvironment) -> ServerEnvironment {
        guard names.contains(environment.name) else { return environment }
        let name = environment.name.debugDescription
        guard isAllowed else {
            warn(
                "TargetKit: WARNING: the environment \(name) keeps its own trust policy in a release build; "
                    + "pass alsoInReleaseBuilds: true to trust any certificate"
            )
            return environment
        }
        warn(
            "TargetKit: WARNING: the environment \(name) trusts any certificate, so anyone on the network can read and "
                + "change its calls"
        )
        var environment = environment
        environment.tls = environment.tls.trustingEveryHost
        return environment
    }
}
