// SPDX-License-Identifier: MIT

/// Keys that TargetKit adds to the `userInfo` of a `URLError`.
package enum FailureMark {
    /// `true` if the timeout of the whole call was exceeded. The caller sets this timeout, so it doesn't indicate a
    /// failing server.
    package static let wholeCall = "TargetKit.wholeCall"
    /// `true` if the transport can't stream a response. Nothing was sent.
    package static let cannotStream = "TargetKit.cannotStream"
    /// `true` if the call may only use a stored response, and there is none.
    package static let notCached = "TargetKit.notCached"
    /// A sentence written by TargetKit, a `String` without quoted content.
    package static let words = "TargetKitWords"
}
