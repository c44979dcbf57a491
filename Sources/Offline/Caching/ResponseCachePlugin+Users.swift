// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

extension ResponseCachePlugin {
    /// Whether the only credential is added by a plugin after this one, for example a signature, which differs for each
    /// request, with a key that may identify the user.
    static func hasUnknownCredential(
        _ fields: [String: String],
        isSigned: Bool,
        _ context: RequestContext
    ) -> Bool {
        if fields.isEmpty { return isSigned }
        let known = [.authorization, .cookie] + (context[CredentialNamesKey.self] ?? [])
        let names = fields.keys.map(HTTPHeaderName.init(rawValue:))
        let hasSignature = isSigned || names.contains(where: context.secretHeaders.contains)
        return hasSignature && !names.contains(where: known.contains)
    }

    /// Whether other plugins added or replaced a credential after this plugin, other than a credential of the same
    /// session, or a signature beside a credential that identifies the user.
    static func hasUnknownCredential(_ sent: URLRequest, after request: URLRequest, _ context: RequestContext) -> Bool {
        let fields = request.allHTTPHeaderFields ?? [:]
        let identifying = [.authorization, .cookie] + (context[CredentialNamesKey.self] ?? [])
        let refreshed = context[RefreshedCredentialsKey.self] ?? []
        let (items, sentItems) = (Credentials.items(of: request.url), Credentials.items(of: sent.url))
        if items.identifying != sentItems.identifying { return true }
        var isSigned = items.others != sentItems.others
        for (field, value) in sent.allHTTPHeaderFields ?? [:] where fields[field] != value {
            let name = HTTPHeaderName(rawValue: field)
            if refreshed.contains(where: { $0.fields.contains { $0.name == name && $0.new == value } }) { continue }
            if identifying.contains(name) { return true }
            isSigned = isSigned || context.secretHeaders.contains(name) || SecretFields.isSecret(field)
        }
        return isSigned && !fields.keys.contains { identifying.contains(HTTPHeaderName(rawValue: $0)) }
    }

    /// The digest of the credentials that identify the user; `nil` for a request without credentials.
    func owner(
        of request: TransportRequest,
        url: URL,
        context: RequestContext,
        credentials: [AppliedCredential],
        login: String?,
        salt: CacheSalt
    ) -> String? {
        var secrets: [String: String] = [:]
        let fields = request.urlRequest.allHTTPHeaderFields ?? [:]
        // The owner of a signature, or of another plugin's credential. Redirects to another origin don't include it.
        let named = credentials.isEmpty && !request.isCrossOrigin ? context.credentialOwner?.identifier : nil
        if !fields.isEmpty {
            let names = [.authorization, .cookie] + (context[CredentialNamesKey.self] ?? [])
            secrets = fields.filter { names.contains(HTTPHeaderName(rawValue: $0.key)) }
        }
        if secrets.isEmpty, login == nil, named == nil {
            let items = Credentials.items(of: url).identifying
            return items.isEmpty ? nil : Self.digest("query", of: items, salt)
        }
        var owners: [String] = []
        // The last credential may have extended the fields of those before it.
        for credential in credentials.reversed() {
            let (own, others) = credential.split(secrets)
            // Redirects to another origin don't include the session's credential.
            if own.isEmpty { continue }
            secrets = others
            owners.append(
                credential.session.user(of: ObjectIdentifier(cache)) { Self.digest("credentials", of: own, salt) }
            )
        }
        var kind = owners.isEmpty ? "credentials" : "session " + owners.joined(separator: " ")
        if let login {
            kind = "login " + login + " " + kind
            secrets = secrets.filter { HTTPHeaderName(rawValue: $0.key) != .authorization }
        }
        if let named { kind = "owner " + named + " " + kind }
        return Self.digest(kind, of: secrets, salt)
    }

    private static func digest(_ kind: String, of fields: [String: String], _ salt: CacheSalt) -> String {
        let sorted = fields.map { ($0.key.lowercased(), $0.value) }.sorted { $0 < $1 }
        return salt.digest(of: [kind] + sorted.flatMap { [$0.0, $0.1] })
    }

    /// Identifies the user whose password a server requests. After a launch, the app is only asked for the user if
    /// responses of users are stored.
    func login(
        of request: TransportRequest,
        url: URL,
        context: RequestContext,
        storage: ResponseCache.Storage
    ) async -> String? {
        // Redirects to another origin don't include the password.
        guard user == nil, !request.isCrossOrigin, let login = context[RequestLoginKey.self] else { return nil }
        switch login {
        case .known(let login): return login
        case .unknown(let ask):
            guard await cache.hasPersonalResponses(of: CacheKey.text(of: url), in: storage), let login = await ask()
            else { return nil }
            context[RequestLoginKey.self] = .known(login)
            return login
        }
    }
}

extension HTTPHeaderName {
    /// The suffixes of field names for signatures, which differ for each request.
    private static let signatures = ["sign", "signature", "sig", "hmac"]

    /// Whether a field with this name usually contains a secret that identifies the user.
    var isCredential: Bool {
        guard SecretFields.isSecret(rawValue) else { return false }
        let text = SecretFields.normalized(rawValue)
        return !Self.signatures.contains(where: text.hasSuffix)
    }
}

extension AppliedCredential {
    /// The fields of the session's credential, and all others, which include values that the credential replaced or
    /// extended, for example other cookies.
    fileprivate func split(_ secrets: [String: String]) -> (own: [String: String], others: [String: String]) {
        var (own, others): ([String: String], [String: String]) = ([:], [:])
        for (name, value) in secrets {
            let field = HTTPHeaderName(rawValue: name)
            guard let change = fields.first(where: { $0.name == field }), change.new == value else {
                others[name] = value
                continue
            }
            own[name] = value
            others[name] = change.old
        }
        return (own, others)
    }
}

/// The names of the fields that identify the user, other than `Authorization` and `Cookie`.
enum CredentialNamesKey: RequestContextKey { typealias Value = [HTTPHeaderName] }
/// The app's identifier of the user when the request was prepared.
enum UserKey: RequestContextKey { typealias Value = String? }
