// SPDX-License-Identifier: MIT
import TargetKitJSON
import TargetKitTesting

extension SchemaCheck {
    /// The maximum number of reported differences from the closest alternative.
    private static let shownCount = 5

    mutating func compositionProblems(of value: JSONValue, in schema: Keywords) -> [SchemaProblem] {
        var found: [SchemaProblem] = []
        for branch in schema.node("allOf")?.elements ?? [] { found += problems(of: value, in: branch) }
        if let named = namedSchema(of: value, in: schema) {
            found += problems(of: value, in: named.node, isReference: named.isReference)
        } else {
            found += anyProblems(of: value, in: schema)
            found += oneProblems(of: value, in: schema)
        }
        if let excluded = schema.node("not"), problems(of: value, in: excluded).isEmpty {
            found.append(problem("expected a value that doesn't match the schema", at: excluded.pointer))
        }
        guard let condition = schema.node("if") else { return found }
        let consequence = schema.node(problems(of: value, in: condition).isEmpty ? "then" : "else")
        return found + (consequence.map { problems(of: value, in: $0) } ?? [])
    }

    private mutating func problems(of value: JSONValue, in node: OpenAPINode, isReference: Bool) -> [SchemaProblem] {
        isReference ? problems(of: value, inReferenced: node) : problems(of: value, in: node)
    }

    private mutating func anyProblems(of value: JSONValue, in schema: Keywords) -> [SchemaProblem] {
        guard let branches = schema.node("anyOf")?.elements, !branches.isEmpty else { return [] }
        var failures: [[SchemaProblem]] = []
        for branch in branches {
            let problems = problems(of: value, in: branch)
            if problems.isEmpty { return [] }
            failures.append(problems)
        }
        return closest(of: failures, branches: branches, at: schema.pointer("anyOf"))
    }

    private mutating func oneProblems(of value: JSONValue, in schema: Keywords) -> [SchemaProblem] {
        guard let branches = schema.node("oneOf")?.elements, !branches.isEmpty else { return [] }
        let failures = branches.map { problems(of: value, in: $0) }
        let fitting = zip(branches, failures).filter(\.1.isEmpty).map(\.0)
        switch fitting.count {
        case 1: return []
        case 0: return closest(of: failures, branches: branches, at: schema.pointer("oneOf"))
        default:
            let names = fitting.map { "#" + name(of: $0) }.joined(separator: ", ")
            return [problem("expected a match of one schema, but it matches \(names)", at: schema.pointer("oneOf"))]
        }
    }

    private func name(of branch: OpenAPINode) -> String {
        branch.value["$ref"].string.flatMap { JSONPointer(reference: $0) }?.text ?? branch.pointer.text
    }

    /// The summary of alternatives that don't match, and the differences from the closest one.
    private func closest(
        of failures: [[SchemaProblem]],
        branches: [OpenAPINode],
        at keyword: JSONPointer
    ) -> [SchemaProblem] {
        func rank(_ problems: [SchemaProblem]) -> [Int] {
            let hasOtherType = problems.contains { $0.place.tokens == place && $0.keyword.tokens.last == "type" }
            return [hasOtherType ? 1 : 0, problems.count]
        }
        let pairs = zip(branches, failures)
        guard let best = pairs.min(by: { rank($0.1).lexicographicallyPrecedes(rank($1.1)) }) else { return [] }
        let summary = "expected a match of one of \(branches.count) schemas"
        guard branches.count > 1, rank(best.1)[0] == 0 else { return [problem(summary, at: keyword)] }
        let text = "\(summary); the closest is #\(name(of: best.0))"
        return [problem(text, at: keyword, showsValue: false)] + best.1.prefix(Self.shownCount)
    }
}

// MARK: - Discriminators

extension SchemaCheck {
    private struct NamedSchema {
        let node: OpenAPINode
        let isReference: Bool
    }

    /// The schema that a discriminator selects, which is one of the alternatives or, without alternatives, extends this
    /// schema. `nil` if the value selects none, so that the alternatives are tried.
    private func namedSchema(of value: JSONValue, in schema: Keywords) -> NamedSchema? {
        guard let discriminator = schema["discriminator"], let property = discriminator["propertyName"].string,
            let name = value.object?[property]?.string
        else { return nil }
        let target = discriminator["mapping"][name].string.flatMap(schemaNode)
        let branches = schema.node("oneOf")?.elements ?? schema.node("anyOf")?.elements ?? []
        guard !branches.isEmpty else {
            guard let node = target ?? schemaNode(name), !isEntered(node) else { return nil }
            return NamedSchema(node: node, isReference: true)
        }
        let branch = branches.first { branch in
            let pointer = branch.value["$ref"].string.flatMap { JSONPointer(reference: $0) }
            guard let pointer else { return false }
            return target.map { $0.pointer == pointer } ?? (pointer.tokens.last == name)
        }
        return branch.map { NamedSchema(node: $0, isReference: false) }
    }

    /// The schema for a mapping's value, which is a reference or the name of a component.
    private func schemaNode(_ name: String) -> OpenAPINode? {
        document.node(at: ["components", "schemas", name]) ?? document.node(at: name)
    }
}
