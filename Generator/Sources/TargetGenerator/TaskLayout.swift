// SPDX-License-Identifier: MIT

/// The expressions of an operation's route: path, query and body. Parameters are the variables of their labels.
struct TaskLayout {
    let operation: Operation
    let types: TypeBuilder
    /// The start of the names of the API's coders.
    let coders: String
    let usesDates: Bool

    /// `.get("/pets/\(petID)", …)`.
    var route: Layout {
        var arguments = [Layout.text(path)]
        if let task { arguments.append(task) }
        if operation.method == "trace" { return .call("Route", [.text(".trace")] + arguments) }
        return .call("." + operation.method, arguments)
    }

    /// The parameters whose values the route uses.
    var usedLabels: Set<String> {
        var labels = Set(operation.parameters.filter { $0.location == .path || $0.location == .query }.map(\.label))
        labels.formUnion(checkedParameters.map(\.label))
        if let body = operation.body { labels.insert(body.label) }
        return labels
    }

    /// The literal of the path, with the items of the query whose separators aren't escaped.
    var path: String {
        let parts = PathTemplate(operation.path).parts.map { part -> String in
            switch part {
            case .text(let text): return Literal.escaped(text)
            case .parameter(let name):
                guard let parameter = operation.parameters.first(where: { $0.location == .path && $0.wireName == name })
                else { return Literal.escaped("{\(name)}") }
                return pathValue(parameter)
            }
        }
        return "\"\(parts.joined())\(joinedQuery)\""
    }

    private func pathValue(_ parameter: Parameter) -> String {
        let name = SwiftName.escaped(parameter.label)
        if parameter.isJSON { return "\\(JSONText(\(name)).text)" }
        let form = PathForm(parameter)
        switch parameter.type {
        case .string, .int, .int32, .int64, .uint, .uint32, .uint64, .bool, .double, .float, .uuid, .calendarDate:
            return form.start + "\\(\(name))"
        case .array:
            return form.listStart
                + "\\(raw: \(list(name, of: parameter.type)).escapedList(separator: \"\(form.listSeparator)\"))"
        case _ where isObject(parameter.type):
            let text = "ObjectText(\(name)).escaped(pair: \"\(form.pair)\", separator: \"\(form.separator)\")"
            return form.objectStart + "\\(raw: \(text))"
        case .named: return form.start + "\\(\(name))"
        default: return form.start + "\\(\(ParameterText.expression(name, type: parameter.type, types: types) ?? name))"
        }
    }

    /// The elements of an array as an array of strings.
    private func list(_ name: String, of type: SwiftType) -> String {
        guard case .array(let element) = type, element != .string else { return name }
        return "\(name).map { \(ParameterText.expression("$0", type: element, types: types) ?? "\"\\($0)\"") }"
    }

    /// The parameters of the query that are lists or objects in one item.
    private var joinedQuery: String {
        let items = operation.parameters.filter(isJoined).map { parameter -> String in
            let name = SwiftName.escaped(parameter.label)
            let separator = separator(parameter)
            let key = Literal.string(parameter.wireName)
            let optional = parameter.isRequired ? name : name + "?"
            if case .array = parameter.type {
                return "\(key): \(list(optional, of: parameter.type)).escapedList(separator: \"\(separator)\")"
            }
            let call = ".escaped(pair: \"\(separator)\", separator: \"\(separator)\")"
            let text = parameter.isRequired ? "ObjectText(\(name))\(call)" : "\(name).map { ObjectText($0)\(call) }"
            return "\(key): \(text)"
        }
        guard !items.isEmpty else { return "" }
        let start = operation.path.contains("?") ? "&" : "?"
        return "\\(raw: escapedQuery(\"\(start)\", [\(items.joined(separator: ", "))]))"
    }

    /// Whether a parameter of the query is a list or an object in one item.
    private func isJoined(_ parameter: Parameter) -> Bool {
        guard parameter.location == .query, !parameter.explodes, !parameter.isJSON, parameter.style != "deepObject"
        else {
            return false
        }
        if case .array = parameter.type { return ParameterText.isPlain(parameter.type, types: types) }
        return isObject(parameter.type)
    }

    /// The query and the body; `nil`: neither.
    var task: Layout? {
        let query = queryCalls
        guard let body = operation.body else { return Self.chain(query) }
        let value = SwiftName.escaped(body.label)
        if body.isRequired { return Self.chain([bodyCall(body, value: value)] + query) }
        let call = bodyCall(body, value: "$0")
        let optional = Layout.text("(\(value).map { HTTPTask\(call.flat) } ?? .plain)")
        return query.isEmpty ? .text("\(value).map { \(call.flat) } ?? .plain") : Self.chain([optional] + query)
    }

    /// Calls that follow each other.
    private static func chain(_ calls: [Layout]) -> Layout? {
        calls.count > 1 ? .chain(calls) : calls.first
    }

    private func bodyCall(_ body: Body, value: String) -> Layout {
        switch body.kind {
        case .json:
            var arguments = [Layout.text(value)]
            if usesDates { arguments.append(.text("encoder: .\(coders)")) }
            return .call(".json", arguments)
        case .form: return .call(".form", [.text(value), .text("encoder: .\(coders)")])
        case .multipart: return .call(".multipart", [.text("\(value).form")])
        case .text:
            return .call(
                ".data",
                [.text("Data(\(value).utf8)"), .text("contentType: \(Literal.string(body.contentType))")]
            )
        case .data(let isBase64):
            let data = value + (isBase64 ? ".base64EncodedData()" : "")
            return .call(".data", [.text(data), .text("contentType: \(Literal.string(binaryType(body)))")])
        }
    }

    private func binaryType(_ body: Body) -> String {
        body.contentType.contains("*") ? "application/octet-stream" : body.contentType
    }
}

// MARK: - Query

extension TaskLayout {
    private var queryCalls: [Layout] {
        var plain: [Layout] = []
        var calls: [Layout] = []
        for parameter in operation.parameters where parameter.location == .query && !isJoined(parameter) {
            let name = SwiftName.escaped(parameter.label)
            let key = Literal.string(parameter.wireName)
            if let text = plainValue(parameter, name: name) {
                plain.append(.text("\(key): \(text)"))
            } else {
                calls.append(
                    .call(".query", [.text(queryValue(parameter, name: name, key: key)), .text("encoder: .\(coders)")])
                )
            }
        }
        calls += checkedParameters.map { parameter in
            let name = SwiftName.escaped(parameter.label)
            return .call(".checking", [.text(name), .text("of: \(Literal.string(parameter.wireName))")])
        }
        guard !plain.isEmpty else { return calls }
        return [.call(".parameters", [.list(plain), .text("encoding: .\(coders)")])] + calls
    }

    /// The parameters whose text is made outside of the task, which reports a value that can't be encoded.
    private var checkedParameters: [Parameter] {
        operation.parameters.filter { parameter in
            let isInTask = parameter.location == .query && !isJoined(parameter)
            return !isInTask && (parameter.isJSON || isObject(parameter.type))
        }
    }

    /// The value in a dictionary of parameters; `nil` if it is no value or list of values.
    private func plainValue(_ parameter: Parameter, name: String) -> String? {
        guard !parameter.isJSON, ParameterText.isPlain(parameter.type, types: types) else { return nil }
        return name
    }

    private func separator(_ parameter: Parameter) -> String {
        switch parameter.style {
        case "spaceDelimited": " "
        case "pipeDelimited": "|"
        default: ","
        }
    }

    /// A value for the form encoder.
    private func queryValue(_ parameter: Parameter, name: String, key: String) -> String {
        if parameter.isJSON { return "[\(key): JSONText(\(name))]" }
        if case .array = parameter.type {
            return "[\(key): \(name)\(parameter.isRequired ? "" : "?").map { JSONText($0) }]"
        }
        if parameter.style == "deepObject" { return "[\(key): \(name)]" }
        guard isObject(parameter.type) else { return "[\(key): \(name)]" }
        return parameter.isRequired ? name : "QueryFields(\(name))"
    }

    private func isObject(_ type: SwiftType) -> Bool { ParameterText.isObject(type, types: types) }
}

/// How OpenAPI's styles write a value in a path.
private struct PathForm {
    let start: String
    let listStart: String
    let listSeparator: String
    let objectStart: String
    let pair: String
    let separator: String

    init(_ parameter: Parameter) {
        let name = Literal.escaped(parameter.wireName)
        let explodes = parameter.explodes
        pair = explodes ? "=" : ","
        switch parameter.style {
        case "label":
            (start, listStart, objectStart) = (".", ".", ".")
            (listSeparator, separator) = explodes ? (".", ".") : (",", ",")
        case "matrix":
            (start, listStart) = (";\(name)=", ";\(name)=")
            (listSeparator, separator) = explodes ? (";\(name)=", ";") : (",", ",")
            objectStart = explodes ? ";" : ";\(name)="
        default:
            (start, listStart, objectStart, listSeparator, separator) = ("", "", "", ",", ",")
        }
    }
}
