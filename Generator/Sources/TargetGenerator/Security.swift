// SPDX-License-Identifier: MIT
import OpenAPIDocument

/// The credentials that operations need, from `security` and `securitySchemes`.
final class Security {
    private let document: Document
    private let notes: Notes

    init(document: Document, notes: Notes) {
        (self.document, self.notes) = (document, notes)
    }

    /// The scheme of an operation's `Authorization` field.
    func authorization(of operation: Place) -> Authorization {
        guard let security = operation["security"] ?? document.root["security"] else { return .automatic }
        let alternatives = security.elements
        guard !alternatives.isEmpty else { return .none }
        if alternatives.contains(where: { $0.node.object?.isEmpty ?? true }) { return .automatic }
        let schemes = alternatives.flatMap { $0.members.compactMap { scheme(named: $0.name, at: $0.place) } }
        if schemes.isEmpty { return .automatic }
        let chosen = schemes.first { $0 != .none } ?? .none
        if let source = chosen.source, Set(schemes).subtracting([.none]).count > 1 {
            notes.add(security, "security", "several schemes for the field `Authorization`; wrote `\(source)`.")
        }
        return chosen
    }

    private func scheme(named name: String, at place: Place) -> Authorization? {
        guard let given = document.root["components"]?["securitySchemes"]?[name],
            let scheme = try? document.resolved(given)
        else {
            notes.add(place, "security", "there is no security scheme “\(name)”; wrote no authorization for it.")
            return nil
        }
        switch scheme.string("type") {
        case "http":
            switch scheme.string("scheme")?.lowercased() {
            case "bearer": return .bearer
            case "basic": return .basic
            case let other?: return .custom(other.capitalizedFirst)
            case nil: return .automatic
            }
        case "oauth2", "openIdConnect":
            notes.add(scheme, "OAuth 2", "flows and scopes are not a part of a target; wrote `.bearer`.")
            return .bearer
        case "apiKey": return key(scheme, named: name)
        case let type:
            notes.add(scheme, "security scheme", "“\(type ?? "")” needs no field of the request; wrote nothing for it.")
            return nil
        }
    }

    /// An API key in `Authorization`; others are not a part of a target.
    private func key(_ scheme: Place, named name: String) -> Authorization? {
        guard let location = scheme.string("in"), let field = scheme.string("name") else { return nil }
        if location == "header", field.lowercased() == "authorization" { return .custom("") }
        notes.add(
            scheme,
            "API key",
            "the key “\(name)” is sent as “\(field)” in the \(location); wrote nothing for it: add it by a plugin."
        )
        return Authorization.none
    }
}
