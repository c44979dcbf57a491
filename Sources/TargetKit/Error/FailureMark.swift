// SPDX-License-Identifier: MIT

/// Where the `userInfo` of a `URLError` has what only the library knows of the failure; for plugins that judge servers.
package enum FailureMark {
    /// How many redirects had been followed, an `Int` above 0: the server that was asked has answered.
    package static let redirects = "TargetKit.redirects"
    /// That the time for the whole call was over, `true`. The caller has set it, so it says nothing about the server.
    package static let wholeCall = "TargetKit.wholeCall"
}
