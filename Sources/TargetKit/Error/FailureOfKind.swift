// SPDX-License-Identifier: MIT

/// An error that knows what it means to the person in front of the screen: of a plugin that refuses a call for a reason which is
/// no mistake of the program.
package protocol FailureOfKind: Error {
    /// What ``TargetKitError/kind`` says when this is the underlying error.
    var kind: TargetKitError.Kind { get }
}

/// An error whose text is for the developer; the person reads the sentences of its kind instead.
package protocol DeveloperError: Error {}
