// SPDX-License-Identifier: MIT

/// The user to whom a credential belongs, independent of refreshes of the credential.
public struct CredentialOwner: Sendable, Hashable {
    /// Identifies the user. It is equal only for requests of one user.
    public let identifier: String
    /// The fields of the credential.
    public let fields: Set<HTTPHeaderName>

    /// Creates an owner.
    ///
    /// - Parameters:
    ///   - identifier: Identifies the user. Must not be a secret, because it is stored with partial downloads and
    ///     uploads.
    ///   - fields: The fields of the credential.
    public init(identifier: String, fields: Set<HTTPHeaderName>) {
        self.identifier = identifier
        self.fields = fields
    }
}

extension RequestContext {
    /// The owner of the credential that a plugin applied to the request; `nil` if no plugin sets it.
    ///
    /// A plugin that authenticates calls sets it in `prepare`, when it applies the credential. A partial download can
    /// then continue with another credential of the owner, and no other user continues the owner's upload or receives
    /// the response of the owner's background transfer. A stored call of a queue or an outbox, and a stream that
    /// reconnects, are only sent with a credential of the owner.
    public var credentialOwner: CredentialOwner? {
        get { self[CredentialOwnerKey.self] }
        nonmutating set { self[CredentialOwnerKey.self] = newValue }
    }
}

private enum CredentialOwnerKey: RequestContextKey { typealias Value = CredentialOwner }
