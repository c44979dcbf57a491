// SPDX-License-Identifier: MIT

/// The text of an operation's documentation.
enum OperationText {
    static func documentation(_ operation: Operation) -> String {
        var parts = [operation.documentation]
        var fields: [String] = []
        for parameter in operation.parameters {
            guard let text = parameter.documentation?.singleLine, !text.isEmpty else { continue }
            fields.append("  - \(parameter.label): \(text)")
        }
        if let body = operation.body, let text = body.documentation?.singleLine, !text.isEmpty {
            fields.append("  - \(body.label): \(text)")
        }
        if !fields.isEmpty { parts.append("- Parameters:\n" + fields.joined(separator: "\n")) }
        if let value = value(of: operation.responses) {
            let separator = fields.isEmpty ? "\n\n" : "\n"
            return parts.joined(separator: "\n\n") + separator + "- Returns: \(value)"
        }
        return parts.joined(separator: "\n\n")
    }

    private static func value(of responses: Responses) -> String? {
        if let name = responses.resultName { return "a response for `\(name)`." }
        if let type = responses.output { return "`\(type.source)`." }
        switch responses.successes.first?.content {
        case .text?: return "text."
        case .data?: return "`Data`."
        default: return nil
        }
    }
}

extension String {
    /// The text without line breaks.
    var singleLine: String {
        split(whereSeparator: \.isNewline).map { $0.description.trimmingSpaces }.filter { !$0.isEmpty }
            .joined(separator: " ")
    }
}

extension Operation {
    /// The parameters and the body in order, with their types.
    var values: [(label: String, type: String, isOptional: Bool)] {
        var values = parameters.map { ($0.label, $0.type.source, !$0.isRequired) }
        if let body {
            let position = body.isRequired ? values.firstIndex { $0.2 } ?? values.count : values.count
            values.insert((body.label, body.type.source, !body.isRequired), at: position)
        }
        return values
    }

    /// The associated values of the case. A body that is the only one has no label.
    var associatedValues: [String] {
        let values = values
        return values.map { value in
            let type = value.isOptional ? "\(value.type)? = nil" : value.type
            return isUnlabelled ? type : "\(SwiftName.label(value.label)): \(type)"
        }
    }

    private var isUnlabelled: Bool { parameters.isEmpty && body != nil }

    /// The pattern of the case with variables for some labels.
    func pattern(binding labels: Set<String>) -> String {
        let values = values
        guard values.contains(where: { labels.contains($0.label) }) else { return "case .\(name):" }
        return "case .\(name)(\(bindings(labels).joined(separator: ", "))):"
    }

    func bindings(_ labels: Set<String>) -> [String] {
        values.map { labels.contains($0.label) ? "let \(SwiftName.escaped($0.label))" : "_" }
    }

    /// The errors whose type is a declaration, ranges last.
    var mappedErrors: [MappedError] {
        let errors = responses.errors.compactMap { response -> MappedError? in
            guard case .json(let type, _) = response.content, let name = type.declarationName else { return nil }
            if response.status == "default" { return MappedError(pattern: "default", type: name) }
            if let code = Int(response.status) { return MappedError(pattern: "\(code)", type: name) }
            guard let digit = response.status.first.flatMap({ Int(String($0)) }) else { return nil }
            return MappedError(pattern: "\(digit)00...\(digit)99", type: name)
        }
        return errors.filter { Int($0.pattern) != nil } + errors.filter { $0.pattern.contains("...") }
            + errors.filter { $0.pattern == "default" }.prefix(1)
    }
}

extension SwiftName {
    /// The label of an argument. Only these words need backticks there.
    static func label(_ name: String) -> String {
        ["inout", "var", "let"].contains(name) ? "`\(name)`" : name
    }
}
