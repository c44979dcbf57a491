// SPDX-License-Identifier: MIT
import OpenAPIDocument

extension OperationBuilder {
    /// The header fields that are no parameters (OpenAPI 3.1 §4.8.12.1), with what decides their values.
    private static let fieldsOfRequests = [
        "accept": "follows from the media types of the responses",
        "content-type": "follows from the media type of the body",
        "authorization": "is set by a plugin, as `security` says",
    ]

    /// The parameters of an operation and of its path: those in the path first, then the required ones.
    func parameters(of found: Found, in context: TypeBuilder.Context, labels: inout NameTable) -> [Parameter] {
        var places: [(key: String, place: Place)] = []
        for place in (found.item["parameters"]?.elements ?? []) + (found.place["parameters"]?.elements ?? []) {
            guard let target = try? document.resolved(place) else {
                notes.add(place, "$ref", "the parameter's reference can't be resolved; wrote no parameter.")
                continue
            }
            guard let name = target.string("name"), let location = target.string("in") else {
                notes.add(target, "parameter", "a parameter needs `name` and `in`; wrote no parameter.")
                continue
            }
            let key = location + " " + name
            if let index = places.firstIndex(where: { $0.key == key }) {
                places[index].place = target
            } else {
                places.append((key, target))
            }
        }
        var parameters = places.compactMap { parameter($0.place, of: found, in: context) }
        parameters += missingPathParameters(of: found, given: parameters)
        let sorted = parameters.enumerated()
            .sorted { (order($0.element), $0.offset) < (order($1.element), $1.offset) }
            .map(\.element)
        return sorted.map {
            $0.labelled(labels.claim($0.label, alternative: $0.location.rawValue + $0.label.capitalizedFirst))
        }
    }

    private func order(_ parameter: Parameter) -> Int {
        switch parameter.location {
        case .path: 0
        default: parameter.isRequired ? 1 : 2
        }
    }

    private func parameter(_ place: Place, of found: Found, in context: TypeBuilder.Context) -> Parameter? {
        guard let name = place.string("name"), let text = place.string("in") else { return nil }
        guard let location = Parameter.Location(rawValue: text) else {
            notes.add(place, "parameter", "a parameter in “\(text)”; wrote no parameter.")
            return nil
        }
        if location == .header, let reason = Self.fieldsOfRequests[name.lowercased()] {
            notes.add(place, "header field of requests", "`\(name)` \(reason); wrote no parameter.")
            return nil
        }
        if location == .path, !found.path.contains("{\(name)}") {
            notes.add(place, "parameter", "the path has no “{\(name)}”; wrote no parameter.")
            return nil
        }
        let content = place["content"]?.members.first
        let schema = place["schema"] ?? content?.place["schema"]
        let inner = context.inside(name)
        let type = schema.map { types.type(of: $0, in: inner) } ?? .string
        let style = place.string("style") ?? (location == .query || location == .cookie ? "form" : "simple")
        notes.addName(name, SwiftName.member(name), at: place)
        if let content, !MediaType.isJSON(content.name) {
            notes.add(content.place, "parameter content", "`\(content.name)` is not written; wrote its text.")
        }
        noteNestedValues(of: type.unwrapped, at: place, location: location, isJSON: content != nil)
        if place.flag("allowReserved") {
            notes.add(place, "allowReserved", "reserved characters are escaped all the same.")
        }
        return Parameter(
            wireName: name,
            label: SwiftName.declarable(SwiftName.member(name)),
            type: checked(type.unwrapped, at: place, location: location, isJSON: content != nil),
            isRequired: location == .path || (place.flag("required") && !type.isOptional),
            location: location,
            style: style,
            explodes: place.node.object?["explode"]?.bool ?? (style == "form"),
            isJSON: content.map { MediaType.isJSON($0.name) } ?? false,
            place: place,
            schema: schema,
            documentation: place.string("description")
        )
    }

    /// Notes a query for which OpenAPI defines no form.
    private func noteNestedValues(of type: SwiftType, at place: Place, location: Parameter.Location, isJSON: Bool) {
        guard location == .query, !isJSON, !ParameterText.isPlain(type, types: types) else { return }
        if case .array = type {
            let message = "a query has no form for a list of such values; wrote each one as JSON text."
            return notes.add(place, "nested values in query", message)
        }
        guard case .object(let model) = type.declarationName.flatMap({ types.declarations[$0]?.shape }),
            !model.properties.allSatisfy({ ParameterText.isPlain($0.type, types: types) })
        else { return }
        let message = "a query has no form for values within those of an object; wrote their names in brackets."
        notes.add(place, "nested values in query", message)
    }

    /// The type, or `String` where no text for a value is defined.
    private func checked(_ type: SwiftType, at place: Place, location: Parameter.Location, isJSON: Bool) -> SwiftType {
        guard location != .query, !isJSON, ParameterText.expression("value", type: type, types: types) == nil else {
            return type
        }
        if location != .cookie, ParameterText.isObject(type, types: types) { return type }
        notes.add(place, "object in \(location.rawValue)", "a value that is no text; wrote `String` for its text.")
        return .string
    }

    private func missingPathParameters(of found: Found, given: [Parameter]) -> [Parameter] {
        let known = Set(given.filter { $0.location == .path }.map(\.wireName))
        return PathTemplate(found.path).names.filter { !known.contains($0) }.map { name in
            notes.add(
                found.place,
                "path parameter",
                "“{\(name)}” of the path isn't among the parameters; wrote `String`."
            )
            return Parameter(
                wireName: name,
                label: SwiftName.declarable(SwiftName.member(name)),
                type: .string,
                isRequired: true,
                location: .path,
                style: "simple",
                explodes: false,
                isJSON: false,
                place: found.place,
                schema: nil,
                documentation: nil
            )
        }
    }
}

extension Parameter {
    fileprivate func labelled(_ label: String) -> Parameter {
        Parameter(
            wireName: wireName,
            label: label,
            type: type,
            isRequired: isRequired,
            location: location,
            style: style,
            explodes: explodes,
            isJSON: isJSON,
            place: place,
            schema: schema,
            documentation: documentation
        )
    }
}

extension String {
    var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
    var lowercasedFirst: String { prefix(1).lowercased() + dropFirst() }
}

/// A path with parameters in braces.
struct PathTemplate {
    enum Part: Hashable {
        case text(String)
        case parameter(String)
    }

    let parts: [Part]

    init(_ path: String) {
        var parts: [Part] = []
        var rest = path[...]
        while let start = rest.firstIndex(of: "{"), let end = rest[start...].firstIndex(of: "}") {
            if start > rest.startIndex { parts.append(.text(String(rest[..<start]))) }
            parts.append(.parameter(String(rest[rest.index(after: start)..<end])))
            rest = rest[rest.index(after: end)...]
        }
        if !rest.isEmpty { parts.append(.text(String(rest))) }
        self.parts = parts
    }

    /// The names, each once.
    var names: [String] {
        var names: [String] = []
        for case .parameter(let name) in parts where !names.contains(name) { names.append(name) }
        return names
    }
}

/// Media types by how a body of them is written.
enum MediaType {
    static func bare(_ type: String) -> String {
        type.prefix { $0 != ";" }.lowercased().trimmingSpaces
    }

    static func isJSON(_ type: String) -> Bool {
        let type = bare(type)
        if streamingCall(type) != nil { return false }
        return type == "application/json" || type.hasSuffix("+json") || type == "text/json" || type == "*/*"
            || type == "application/*"
    }

    static func isText(_ type: String) -> Bool { bare(type).hasPrefix("text/") }

    /// The method of a response stream that reads the elements of a body; `nil` if the media type isn't one of those.
    static func streamingCall(_ type: String) -> String? {
        switch bare(type) {
        case "text/event-stream": "serverSentEvents()"
        case "application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines",
            "application/stream+json":
            "jsonLines(of:)"
        default: nil
        }
    }

    /// The content that is written: JSON, then the first of these ranks, then the first one in the document's order that
    /// is neither a page nor a stream.
    static func preferred(
        of contents: [(name: String, place: Place)],
        _ ranks: [(String) -> Bool] = []
    ) -> (name: String, place: Place)? {
        let isWhole = { (name: String) in
            streamingCall(name) == nil && !["text/html", "application/xhtml+xml"].contains(bare(name))
        }
        let all = [isJSON] + ranks + [isWhole, { _ in true }]
        return all.lazy.compactMap { rank in contents.first { rank($0.name) } }.first
    }
    static func isForm(_ type: String) -> Bool { bare(type) == "application/x-www-form-urlencoded" }
    static func isMultipart(_ type: String) -> Bool { bare(type) == "multipart/form-data" }
}

extension String {
    var trimmingSpaces: String {
        var text = self[...]
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
