// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

/// The plugins that most apps begin with, which are also the four that Moya has.
public enum PluginSet {
    /// A token, a user's password where there is no token, and the activity indicator.
    public static var withoutLogger: [any Plugin] {
        [AccessTokenPlugin { _ in "token" }, CredentialsPlugin { _ in nil }, NetworkActivityPlugin { _, _ in }]
    }

    /// The same with a logger that writes a line for each request and response to nowhere.
    public static var withLogger: [any Plugin] {
        withoutLogger + [NetworkLoggerPlugin(level: .basic) { _ in }]
    }
}
