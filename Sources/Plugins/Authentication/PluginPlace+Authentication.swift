// SPDX-License-Identifier: MIT
import TargetKit

extension PluginPlace {
    /// Ends the session. Follows plugins that delay a call, and precedes ``standard`` plugins, which may replace the
    /// response in `process`. 350.
    static let sessionEnd = PluginPlace(rawValue: 350)
    /// Adds the app's token. The credential of an ``authentication`` plugin replaces it. 490.
    static let accessToken = PluginPlace(rawValue: 490)
    /// Adds credentials to a request that has none. 510.
    static let missingCredentials = PluginPlace(rawValue: 510)
}
