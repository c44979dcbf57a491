// SPDX-License-Identifier: MIT
import OpenAPIDocument

/// Reads the operations of a document, grouped by their first tag.
final class OperationBuilder {
    private static let methods = ["get", "put", "post", "delete", "options", "head", "patch", "trace"]

    let document: Document
    let types: TypeBuilder
    let options: GenerationOptions
    var notes: Notes { types.notes }
    let security: Security

    init(types: TypeBuilder, options: GenerationOptions) {
        (document, self.types, self.options) = (types.document, types, options)
        security = Security(document: document, notes: types.notes)
    }

    /// The APIs, sorted by name; each with its operations, sorted by name.
    func apis() throws(DocumentError) -> [API] {
        var groups: [String: [Found]] = [:]
        let all = try find()
        try checkSelection(all)
        for found in all where isWanted(found) { groups[tag(of: found), default: []].append(found) }
        var apis: [API] = []
        let tags = groups.keys.sorted()
        let names = tags.map { tag -> String in
            let base = SwiftName.type(tag.isEmpty ? options.module : tag)
            return types.names.claim(base.hasSuffix("API") ? base : base + "API")
        }
        for (tag, name) in zip(tags, names) {
            apis.append(api(named: name, tag: tag, operations: groups[tag] ?? []))
        }
        return apis
    }

    private func api(named name: String, tag: String, operations: [Found]) -> API {
        let description = document.root["tags"]?.elements.first { $0.string("name") == tag }?.string("description")
        let sorted = operations.sorted { ($0.id, $0.path, $0.method) < ($1.id, $1.path, $1.method) }
        var names = NameTable(reserved: ["environments"])
        let built = sorted.map { operation($0, api: name, names: &names) }
        return API(
            name: name,
            tag: tag.isEmpty ? nil : tag,
            documentation: description,
            operations: built.sorted { $0.name < $1.name }
        )
    }

    /// The tag whose enum has the operation: the first one that is asked for.
    private func tag(of found: Found) -> String {
        let tag = found.tags.first { options.tags.contains($0) } ?? found.tags.first ?? ""
        if found.tags.count > 1, let place = found.place["tags"] {
            notes.add(place, "several tags", "an operation is in one enum; wrote it into that of “\(tag)”.")
        }
        return tag
    }

    /// - Throws: `DocumentError` for a tag or an identifier that no operation has.
    private func checkSelection(_ all: [Found]) throws(DocumentError) {
        let tags = Set(all.flatMap(\.tags))
        if let tag = options.tags.subtracting(tags).min() {
            throw DocumentError(document.root, "no operation has the tag “\(tag)”; there are \(tags.sorted()).")
        }
        if let id = options.operations.subtracting(all.map(\.id)).min() {
            throw DocumentError(document.root, "no operation has the identifier “\(id)”.")
        }
    }

    private func isWanted(_ found: Found) -> Bool {
        if !options.tags.isEmpty, options.tags.isDisjoint(with: found.tags) { return false }
        return options.operations.isEmpty || options.operations.contains(found.id)
    }
}

extension OperationBuilder {
    /// An operation as it is in the document.
    struct Found {
        let place: Place
        let item: Place
        let path: String
        let method: String
        let tags: [String]
        let id: String
    }

    private func find() throws(DocumentError) -> [Found] {
        var operations: [Found] = []
        for (path, place) in document.root["paths"]?.members ?? [] where !path.hasPrefix("x-") {
            guard let item = try? document.resolved(place) else {
                notes.add(place, "$ref", "the path's reference can't be resolved; wrote nothing for it.")
                continue
            }
            noteMembers(of: item)
            for method in Self.methods {
                guard let given = item[method] else { continue }
                // OpenAPI allows no reference here, and documents of several files have them.
                guard let place = try? document.resolved(given) else {
                    notes.add(given, "$ref", "the operation's reference can't be resolved; wrote nothing for it.")
                    continue
                }
                guard place.node.object != nil else {
                    throw DocumentError(place, "an operation must be an object, and is \(place.node.kind).")
                }
                let id = place.string("operationId").flatMap { SwiftName.words(of: $0).isEmpty ? nil : $0 }
                let operation = Found(
                    place: place,
                    item: item,
                    path: path,
                    method: method,
                    tags: place["tags"]?.node.array?.compactMap(\.string) ?? [],
                    id: id ?? method + " " + path.replacing("{", with: "by ").replacing("}", with: "")
                )
                operations.append(operation)
            }
        }
        if let place = document.root["webhooks"], !(place.node.object?.isEmpty ?? true) {
            notes.add(place, "webhooks", "the server calls webhooks, so no target was written for them.")
        }
        return operations
    }

    private func operation(_ found: Found, api: String, names: inout NameTable) -> Operation {
        let id = readableID(found)
        let name = names.claim(SwiftName.declarable(SwiftName.member(id)), alternative: nil)
        let typeName = types.names.claim(SwiftName.type(id), alternative: SwiftName.type(id) + "Call")
        let context = TypeBuilder.Context(name: typeName, group: api)
        noteUnsupported(found)
        var labels = NameTable(reserved: [])
        let parameters = parameters(of: found, in: context, labels: &labels)
        let body = body(of: found, in: context, labels: &labels)
        return Operation(
            id: found.id,
            place: found.place,
            method: found.method,
            path: found.path,
            name: name,
            typeName: typeName,
            documentation: documentation(found),
            parameters: parameters,
            body: body,
            responses: responses(of: found, in: context),
            authorization: security.authorization(of: found.place),
            server: (found.place["servers"] ?? found.item["servers"]).flatMap {
                Servers.url(of: $0, notes: notes, options: options)
            }
        )
    }

    /// The operation's identifier; FastAPI's without the path and method that it appends.
    private func readableID(_ found: Found) -> String {
        let path = found.path.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? String($0) : "_" }.joined()
        let suffix = path + "_" + found.method
        if found.id.hasSuffix(suffix), found.id.count > suffix.count { return String(found.id.dropLast(suffix.count)) }
        return found.id
    }

    /// Notes members of a path item that neither version knows, such as a method of version 3.2.
    private func noteMembers(of item: Place) {
        let known = Set(Self.methods + ["$ref", "summary", "description", "servers", "parameters"])
        for (name, place) in item.members where !known.contains(name) && !name.hasPrefix("x-") {
            notes.add(place, "path item", "“\(name)” is no method of OpenAPI 3.1; wrote nothing for it.")
        }
    }

    private func noteUnsupported(_ found: Found) {
        if let place = found.place["callbacks"], !(place.node.object?.isEmpty ?? true) {
            notes.add(place, "callbacks", "the server calls callbacks, so nothing was written for them.")
        }
    }

    private func documentation(_ found: Found) -> String {
        let summary = found.place.string("summary") ?? found.item.string("summary")
        let description = found.place.string("description") ?? found.item.string("description")
        var parts = [summary, description == summary ? nil : description].compactMap { $0 }.filter { !$0.isEmpty }
        parts.append("`\(found.method.uppercased()) \(found.path)`")
        if found.place.flag("deprecated") { parts.append("- Important: Deprecated.") }
        return parts.joined(separator: "\n\n")
    }
}
