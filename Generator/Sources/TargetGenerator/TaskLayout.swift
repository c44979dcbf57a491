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
        if let body = operation.body { labels.insert(body.label) }
        return labels
    }

    /// The literal of the path.
    var path: String {
        let parts = PathTemplate(operation.path).parts.map { part -> String in
            switch part {
            case .text(let text): return Literal.escaped(text)
            case .parameter(let name):
                guard let parameter = operation.parameters.first(where: { $0.location == .path && $0.wireName == name })
                else { return Literal.escaped("{\(name)}") }
                return prefix(of: parameter) + "\\(\(pathValue(parameter)))"
            }
        }
        return "\"\(parts.joined())\""
    }

    private func prefix(of parameter: Parameter) -> String {
        switch parameter.style {
        case "label": "."
        case "matrix": ";\(Literal.escaped(parameter.wireName))="
        default: ""
        }
    }

    private func pathValue(_ parameter: Parameter) -> String {
        let name = SwiftName.escaped(parameter.label)
        switch parameter.type {
        case .string, .int, .int32, .int64, .uint, .uint32, .uint64, .bool, .double, .float, .uuid, .calendarDate:
            return name
        case .named: return name
        default: return ParameterText.expression(name, type: parameter.type, types: types) ?? name
        }
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
        case .data:
            return .call(".data", [.text(value), .text("contentType: \(Literal.string(binaryType(body)))")])
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
        for parameter in operation.parameters where parameter.location == .query {
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
        guard !plain.isEmpty else { return calls }
        return [.call(".parameters", [.list(plain), .text("encoding: .\(coders)")])] + calls
    }

    /// The value in a dictionary of parameters; `nil` if it is no value or list of values.
    private func plainValue(_ parameter: Parameter, name: String) -> String? {
        guard !parameter.isJSON, ParameterText.isPlain(parameter.type, types: types) else { return nil }
        guard case .array = parameter.type else { return name }
        if parameter.explodes { return name }
        guard let text = ParameterText.expression("$0", type: parameter.type, types: types) else { return nil }
        let separated = text.replacing("separator: \",\"", with: "separator: \"\(separator(parameter))\"")
        if parameter.isRequired { return separated.replacingFirst("$0", with: name) }
        return separated.replacingFirst("$0", with: name + "?")
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
        if parameter.isJSON { return "[\(key): JSONQueryValue(\(name))]" }
        if parameter.style == "deepObject" { return "[\(key): \(name)]" }
        guard isObject(parameter.type) else { return "[\(key): \(name)]" }
        if parameter.explodes { return parameter.isRequired ? name : "QueryFields(\(name))" }
        return "[\(key): JoinedQueryValue(\(name), separator: \"\(separator(parameter))\")]"
    }

    private func isObject(_ type: SwiftType) -> Bool {
        switch type {
        case .dictionary: return true
        case .named(let name):
            if case .object = types.declarations[name]?.shape { return true }
            return false
        default: return false
        }
    }
}

extension String {
    func replacingFirst(_ text: String, with other: String) -> String {
        guard let range = firstRange(of: text) else { return self }
        return self[..<range.lowerBound] + other + self[range.upperBound...]
    }
}
