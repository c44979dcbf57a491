// SPDX-License-Identifier: MIT
#if os(Linux)
@testable import TargetKit

extension CurlTransport.Configuration {
    /// The defaults, with ten minutes to connect and without a byte.
    static var patient: Self {
        var configuration = Self()
        configuration.connectTimeout = .seconds(600)
        configuration.idleTimeout = .seconds(600)
        return configuration
    }
}
#endif
