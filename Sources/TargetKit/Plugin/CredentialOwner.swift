// SPDX-License-Identifier: MIT

/// The user to whom a credential belongs, which stays the same when the credential is refreshed.
package struct CredentialOwner: Sendable, Hashable {
    /// Identifies the user. Equal for two requests only if they are made for the same user.
    package let identifier: String
    /// The fields of the credential.
    package let fields: Set<HTTPHeaderName>

    package init(identifier: String, fields: Set<HTTPHeaderName>) {
        self.identifier = identifier
        self.fields = fields
    }
}

/// The owner of the credential that a plugin has applied to a call's request. A partial download is continued with
/// another credential of the same owner.
package enum CredentialOwnerKey: RequestContextKey { package typealias Value = CredentialOwner }
