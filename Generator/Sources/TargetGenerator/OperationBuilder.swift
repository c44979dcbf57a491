// SPDX-License-Identifier: MIT
import OpenAPIDocument

/// Reads the operations of a document, grouped by their first tag.
final class OperationBuilder {
    /// The members of a struct for a call that are written, used, or have the type of a parameter.
    private static let members = [
        "baseURL", "environments", "headers", "module", "options", "route", "sampleData", "sampleResponse",
        "validation",
    ]
    private static let methods = ["get", "put", "post", "delete", "options", "head", "patch", "trace"]

    let document: Document
    let types: TypeBuilder
    let options: GenerationOptions
    var notes: Notes { types.notes }
    let security: Security

    init(types: TypeBuilder, options: GenerationOptions) throws(DocumentError) {
        (document, self.types, self.options) = (types.document, types, options)
        security = try Security(document: document, notes: types.notes, options: options)
    }

    /// The APIs, sorted by name; each with its operations, sorted by name.
    func apis() throws(DocumentError) -> [API] {
        var groups: [String: [Found]] = [:]
        let all = try find()
        try checkSelection(all)
        let wanted = all.filter(isWanted)
        noteRepeatedIdentifiers(wanted)
        let segments = Segments(wanted.filter(\.tags.isEmpty).map(\.path))
        for found in wanted {
            let group = found.tags.isEmpty ? segments.group(of: found.path) : tag(of: found)
            groups[group, default: []].append(found)
        }
        var apis: [API] = []
        let tags = groups.keys.sorted()
        let names = tags.map { tag -> String in
            let base = SwiftName.type(tag.isEmpty ? options.module : tag)
            let name = base.hasSuffix("API") ? base : base + "API"
            let claimed = types.names.claim(name)
            if let place = groups[tag]?.first?.place, !tag.isEmpty {
                notes.addName(tag, claimed, isTaken: claimed != name, at: place["tags"] ?? place)
            }
            return claimed
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
        let cases = caseNames(of: sorted, tag: tag)
        let built = zip(sorted, cases).map { operation($0, api: name, caseName: $1, names: &names) }
        let isTagged = operations.contains { $0.tags.contains(tag) }
        return API(
            name: name,
            tag: isTagged ? tag : nil,
            documentation: description,
            operations: built.sorted { $0.name < $1.name }
        )
    }

    /// The names of the cases: the operations' identifiers without the tag that the enum has, where that leaves a name
    /// which no other case has.
    private func caseNames(of operations: [Found], tag: String) -> [String] {
        let tag = SwiftName.words(of: tag).map { $0.lowercased() }
        let full = operations.map { SwiftName.member(readableID($0)) }
        guard !tag.isEmpty else { return full }
        let short = operations.indices.map { index -> String in
            let words = SwiftName.words(of: readableID(operations[index]))
            guard words.count > tag.count, words.prefix(tag.count).map({ $0.lowercased() }) == tag,
                let first = words[tag.count].first, first.isLetter
            else { return full[index] }
            return SwiftName.member(words.dropFirst(tag.count).joined(separator: " "))
        }
        let counts = Dictionary((full + short).map { ($0, 1) }, uniquingKeysWith: +)
        return operations.indices.map { index in
            short[index] == full[index] || counts[short[index], default: 0] > 1 ? full[index] : short[index]
        }
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

    /// Notes identifiers that several operations have, which tools and the option `operations` can't distinguish.
    private func noteRepeatedIdentifiers(_ operations: [Found]) {
        var known: Set<String> = []
        for found in operations {
            guard let place = found.place["operationId"], !known.insert(found.id).inserted else { continue }
            notes.add(
                place,
                "operationId",
                "another operation has the identifier “\(found.id)”, which must be unique; wrote both."
            )
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

    private func operation(_ found: Found, api: String, caseName: String, names: inout NameTable) -> Operation {
        let id = readableID(found)
        let name = names.claim(SwiftName.declarable(caseName))
        notes.addName(id, name, at: found.place)
        let typeName = types.names.claim(SwiftName.type(id), alternative: SwiftName.type(id) + "Call")
        let context = TypeBuilder.Context(name: typeName, group: api)
        noteUnsupported(found)
        var labels = NameTable(reserved: options.style == .typed ? Self.members : [])
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
            isDeprecated: found.place.flag("deprecated"),
            parameters: parameters,
            body: body,
            responses: responses(of: found, in: context),
            credentials: security.credentials(of: found.place),
            server: (found.place["servers"] ?? found.item["servers"]).flatMap {
                Servers.url(of: $0, notes: notes, options: options)
            }
        )
    }

    /// The operation's identifier; FastAPI's without the path and method that it appends.
    private func readableID(_ found: Found) -> String {
        let path = found.path.map { $0.isLetter || $0.isNumber ? String($0) : "_" }.joined()
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
        return parts.joined(separator: "\n\n")
    }
}

/// The groups of operations without a tag: by the first segment in which their paths differ, if they are many.
private struct Segments {
    /// So many operations are in one enum.
    private static let limit = 30

    /// The number of segments that all paths begin with; `nil` for few operations, which are one group.
    private let common: Int?

    init(_ paths: [String]) {
        guard paths.count > Self.limit, let first = paths.first.map(Self.segments) else {
            common = nil
            return
        }
        common = paths.dropFirst().reduce(first.count) { count, path in
            let segments = Self.segments(path)
            return zip(first.prefix(count), segments).prefix { $0 == $1 }.count
        }
    }

    /// The segment of a path; empty for a path without one that is no parameter.
    func group(of path: String) -> String {
        guard let common else { return "" }
        let segments = Self.segments(path).dropFirst(common)
        guard let segment = segments.first, !segment.contains("{"), !SwiftName.words(of: segment).isEmpty else {
            return ""
        }
        return segment
    }

    private static func segments(_ path: String) -> [String] { path.split(separator: "/").map(String.init) }
}
