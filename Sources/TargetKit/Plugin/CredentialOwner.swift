// SPDX-License-Identifier: MIT

/// The user to whom a credential belongs, which stays the same when the credential is refreshed.
public struct CredentialOwner: Sendable, Hashable {
    /// Identifies the user. Equal for two requests only if they are made for the same user.
    public let identifier: String
    /// The fields of the credential.
    public let fields: Set<HTTPHeaderName>

    /// Creates an owner.
    ///
    /// - Parameters:
    ///   - identifier: Identifies the user, but is not a secret: it is stored beside partial downloads.
    ///   - fields: The fields of the credential.
    public init(identifier: String, fields: Set<HTTPHeaderName>) {
        self.identifier = identifier
        self.fields = fields
    }
}

extension RequestContext {
    /// The owner of the credential that a plugin has applied to the request; `nil` if no plugin says so.
    ///
    /// A plugin that authenticates calls sets it in `exchange`, before it passes on the request. A partial download is
    /// then continued with another credential of the same owner.
    public var credentialOwner: CredentialOwner? {
        get { self[CredentialOwnerKey.self] }
        nonmutating set { self[CredentialOwnerKey.self] = newValue }
    }
}

private enum CredentialOwnerKey: RequestContextKey { typealias Value = CredentialOwner }
