// SPDX-License-Identifier: MIT

/// The part of TargetKit that the keychain's files use.
package protocol DeveloperError: Error {}
