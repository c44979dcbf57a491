// SPDX-License-Identifier: MIT
import TargetKitJSON
import TargetKitTesting

// MARK: - Arrays

extension SchemaCheck {
    mutating func problems(of elements: [JSONValue], in schema: Keywords) -> [SchemaProblem] {
        var found = countProblems(elements.count, "Items", noun: "element", in: schema)
        if schema["uniqueItems"]?.bool == true, let (first, second) = Self.firstDuplicates(elements) {
            found.append(
                problem(
                    "expected unique elements, but \(first) and \(second) are equal",
                    at: schema.pointer("uniqueItems"),
                    showsValue: false
                )
            )
        }
        // An array of schemas in `items` is the older spelling of `prefixItems`.
        let prefix = schema.node("prefixItems")?.elements ?? schema.node("items")?.elements ?? []
        for (index, pair) in zip(elements, prefix).enumerated() {
            found += problems(of: pair.0, at: "\(index)", in: pair.1)
        }
        if let items = schema.node("items"), items.value.array == nil {
            for (index, element) in elements.enumerated().dropFirst(prefix.count) {
                found += problems(of: element, at: "\(index)", in: items)
            }
        }
        return found + containsProblems(elements, in: schema)
    }

    private mutating func containsProblems(_ elements: [JSONValue], in schema: Keywords) -> [SchemaProblem] {
        guard let contained = schema.node("contains") else { return [] }
        var count = 0
        for (index, element) in elements.enumerated() {
            if problems(of: element, at: "\(index)", in: contained).isEmpty { count += 1 }
        }
        let least = schema.count("minContains") ?? 1
        let most = schema.count("maxContains") ?? .max
        guard count < least || count > most else { return [] }
        let keyword = count > most ? "maxContains" : schema["minContains"] == nil ? "contains" : "minContains"
        let text = count > most ? "at most \(most)" : "\(least) or more"
        return [
            problem(
                "expected \(text) elements that match the schema, found \(count)",
                at: schema.pointer(keyword),
                showsValue: false
            )
        ]
    }

    /// The indices of the first equal elements. Elements are compared by their text with sorted keys, which takes
    /// linear time.
    private static func firstDuplicates(_ elements: [JSONValue]) -> (Int, Int)? {
        var indices: [Data: Int] = [:]
        for (index, element) in elements.enumerated() {
            if let first = indices.updateValue(index, forKey: element.jsonData(sortedKeys: true)) {
                return (first, index)
            }
        }
        return nil
    }

    private func countProblems(_ count: Int, _ keyword: String, noun: String, in schema: Keywords) -> [SchemaProblem] {
        if let least = schema.count("min" + keyword), count < least {
            let text = "expected \(Plural.of(least, noun: noun)) or more, found \(count)"
            return [problem(text, at: schema.pointer("min" + keyword), showsValue: false)]
        }
        if let most = schema.count("max" + keyword), count > most {
            let text = "expected at most \(Plural.of(most, noun: noun)), found \(count)"
            return [problem(text, at: schema.pointer("max" + keyword), showsValue: false)]
        }
        return []
    }
}

// MARK: - Objects

extension SchemaCheck {
    mutating func problems(of object: JSONObject, in schema: Keywords) -> [SchemaProblem] {
        var found = countProblems(object.count, "Properties", noun: "member", in: schema)
        found += requiredProblems(object, in: schema)
        let properties = schema.node("properties")
        let patterns = schema.node("patternProperties")?.members ?? []
        let others = schema.node("additionalProperties")
        for (key, value) in object {
            var isKnown = false
            if let property = properties?[key] {
                isKnown = true
                found += problems(of: value, at: key, in: property)
            }
            for (pattern, node) in patterns {
                guard let matches = self.patterns.matches(pattern, in: key) else {
                    found.append(unreadable(pattern, at: node.pointer))
                    continue
                }
                guard matches else { continue }
                isKnown = true
                found += problems(of: value, at: key, in: node)
            }
            if let others, !isKnown { found += additionalProblems(value, at: key, in: others) }
            if let names = schema.node("propertyNames") { found += nameProblems(key, in: names) }
        }
        return found + dependencyProblems(object, in: schema)
    }

    private mutating func additionalProblems(
        _ value: JSONValue,
        at key: String,
        in schema: OpenAPINode
    ) -> [SchemaProblem] {
        guard schema.value == .bool(false) else { return problems(of: value, at: key, in: schema) }
        let place = JSONPointer(place + [key])
        return [SchemaProblem(place: place, keyword: schema.pointer, text: "the schema has no such property")]
    }

    private mutating func nameProblems(_ key: String, in schema: OpenAPINode) -> [SchemaProblem] {
        problems(of: .string(key), in: schema).map { problem in
            SchemaProblem(
                place: JSONPointer(place + [key]),
                keyword: problem.keyword,
                text: "the name: \(problem.text)",
                showsValue: false
            )
        }
    }

    private func requiredProblems(_ object: JSONObject, in schema: Keywords) -> [SchemaProblem] {
        let names = (schema["required"]?.array ?? []).compactMap(\.string)
        return names.filter { object[$0] == nil && !isWriteOnly($0, in: schema) }.map { name in
            let place = JSONPointer(place + [name])
            let keyword = schema.pointer("required")
            return SchemaProblem(place: place, keyword: keyword, text: "missing, but required", showsValue: false)
        }
    }

    /// Whether a property belongs only to requests, so that a response may lack it.
    private func isWriteOnly(_ name: String, in schema: Keywords) -> Bool {
        guard let property = schema.node("properties")?[name] else { return false }
        if property.value["writeOnly"].bool == true { return true }
        return (try? document.resolved(property))?.value["writeOnly"].bool == true
    }

    private mutating func dependencyProblems(_ object: JSONObject, in schema: Keywords) -> [SchemaProblem] {
        var found: [SchemaProblem] = []
        for (key, node) in schema.node("dependentRequired")?.members ?? [] where object[key] != nil {
            for name in (node.value.array ?? []).compactMap(\.string) where object[name] == nil {
                let text = "\(name) is missing, but required beside \(key)"
                found.append(problem(text, at: node.pointer, showsValue: false))
            }
        }
        for (key, node) in schema.node("dependentSchemas")?.members ?? [] where object[key] != nil {
            found += problems(of: .object(object), in: node)
        }
        return found
    }
}
