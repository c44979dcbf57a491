// SPDX-License-Identifier: MIT
import OpenAPIDocument

/// The credentials that operations need, from `security` and `securitySchemes`.
final class Security {
    /// What an operation is sent with.
    struct Credentials: Hashable {
        var authorization = Authorization.none
        var keys: [APIKey] = []
    }

    /// The keys that operations use.
    private(set) var keys: [APIKey] = []

    private let document: Document
    private let notes: Notes
    private let preferred: [String]
    private let schemes: [(name: String, place: Place)]
    /// Whether any part of the document says which operations need credentials.
    private let isSaid: Bool
    private var keyNames = NameTable(reserved: ["defaultValue", "stringValue", "intValue", "rawValue"])

    init(document: Document, notes: Notes, options: GenerationOptions) throws(DocumentError) {
        (self.document, self.notes, preferred) = (document, notes, options.security)
        schemes = document.root["components"]?["securitySchemes"]?.members ?? []
        let items = (document.root["paths"]?.members ?? []).compactMap { try? document.resolved($0.place) }
        isSaid =
            document.root["security"] != nil || items.contains { $0.members.contains { $0.place["security"] != nil } }
        if let name = preferred.first(where: { name in !schemes.contains { $0.name == name } }) {
            let names = schemes.map(\.name)
            throw DocumentError(document.root, "there is no security scheme “\(name)”; there are \(names.sorted()).")
        }
    }

    /// The credentials of an operation. One without `security` needs none, unless no operation says what it needs.
    func credentials(of operation: Place) -> Credentials {
        guard let security = operation["security"] ?? document.root["security"] else {
            return Credentials(authorization: isSaid ? .none : .automatic)
        }
        let alternatives = security.elements
        guard !alternatives.isEmpty else { return Credentials() }
        let required = alternatives.filter { !($0.node.object?.isEmpty ?? true) }
        let isOptional = required.count < alternatives.count
        guard let chosen = choice(of: required) else { return Credentials(authorization: .automatic) }
        if required.count > 1 {
            let names = chosen.members.map { "“\($0.name)”" }.joined(separator: " with ")
            notes.add(
                security,
                "security",
                "an operation has one of several schemes; wrote \(names). Choose by `security`."
            )
        }
        var credentials = Credentials()
        var isKnown = false
        for (name, place) in chosen.members {
            switch scheme(named: name, at: place) {
            case .authorization(let authorization)?:
                (credentials.authorization, isKnown) = (authorization, true)
            case .key(let key)?:
                credentials.keys.append(key)
                // Nothing else is sent in the field, so the app's plugin decides.
                isKnown = isKnown || hasAuthorizationScheme
                if !isKnown { credentials.authorization = .automatic }
            case nil: break
            }
        }
        if isOptional || (!isKnown && credentials.keys.isEmpty) { credentials.authorization = .automatic }
        return credentials
    }

    /// The first alternative with only schemes that are preferred, or else the first one.
    private func choice(of alternatives: [Place]) -> Place? {
        let wanted = preferred.lazy.compactMap { name in
            alternatives.first { $0.members.contains { $0.name == name } }
        }
        return wanted.first ?? alternatives.first
    }

    private enum Scheme {
        case authorization(Authorization)
        case key(APIKey)
    }

    /// Whether any scheme is for the field `Authorization`.
    private var hasAuthorizationScheme: Bool {
        schemes.contains { name, place in
            guard let scheme = try? document.resolved(place) else { return false }
            switch scheme.string("type") {
            case "http", "oauth2", "openIdConnect": return true
            case "apiKey": return APIKey(scheme, name: name) == nil
            default: return false
            }
        }
    }

    private func scheme(named name: String, at place: Place) -> Scheme? {
        guard let given = schemes.first(where: { $0.name == name }), let scheme = try? document.resolved(given.place)
        else {
            notes.add(place, "security", "there is no security scheme “\(name)”; wrote no authorization for it.")
            return nil
        }
        switch scheme.string("type") {
        case "http":
            switch scheme.string("scheme")?.lowercased() {
            case "bearer": return .authorization(.bearer)
            case "basic": return .authorization(.basic)
            case let other?: return .authorization(.custom(other.capitalizedFirst))
            case nil: return .authorization(.automatic)
            }
        case "oauth2", "openIdConnect":
            notes.add(scheme, "OAuth 2", "flows and scopes are not a part of a target; wrote `.bearer`.")
            return .authorization(.bearer)
        case "apiKey":
            guard let key = APIKey(scheme, name: name) else { return .authorization(.custom("")) }
            return .key(claimed(key))
        case let type:
            notes.add(scheme, "security scheme", "“\(type ?? "")” needs no field of the request; wrote nothing for it.")
            return nil
        }
    }

    /// The key with the name of its case.
    private func claimed(_ key: APIKey) -> APIKey {
        if let known = keys.first(where: { $0.scheme == key.scheme }) { return known }
        var key = key
        key.name = keyNames.claim(SwiftName.declarable(SwiftName.member(key.scheme)))
        keys.append(key)
        return key
    }
}

/// A key in a header field other than `Authorization`, in the query or in a cookie.
struct APIKey: Hashable {
    /// The name of the security scheme.
    let scheme: String
    let location: Parameter.Location
    /// The name of the field, item or cookie.
    let field: String
    let documentation: String?
    /// The name of the case.
    var name = ""

    /// Creates the key of a scheme; `nil` for one in `Authorization`, or without a place.
    init?(_ place: Place, name: String) {
        guard let location = place.string("in").flatMap(Parameter.Location.init(rawValue:)), location != .path,
            let field = place.string("name"), location != .header || field.lowercased() != "authorization"
        else { return nil }
        (scheme, self.location, self.field) = (name, location, field)
        documentation = place.string("description")
    }
}
