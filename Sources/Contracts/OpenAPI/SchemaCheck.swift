// SPDX-License-Identifier: MIT
import TargetKitJSON
import TargetKitTesting

/// Checks a JSON value against a schema of an OpenAPI document, which is JSON Schema 2020-12 in version 3.1, or the
/// schema object of version 3.0.
struct SchemaCheck {
    /// The maximum nesting of schemas, because in a debug build each level uses up to 5 KB of the thread's stack, which
    /// may be 512 KB.
    static let maximumDepth = 90

    let document: OpenAPIDocument
    var patterns = SchemaPatterns()
    private(set) var place: [String] = []
    /// The references that are being checked at the current location.
    private var entered: Set<JSONPointer> = []
    private var depth = 0
    /// The remaining number of schemas to check.
    private var steps = 0
    private var limit: String?

    init(_ document: OpenAPIDocument) {
        self.document = document
    }

    /// The differences between a whole value and a schema.
    mutating func differences(of value: JSONValue, from schema: OpenAPINode) -> [SchemaProblem] {
        steps = Self.steps(for: value)
        let found = problems(of: value, in: schema)
        guard let limit else { return found }
        return found + [SchemaProblem(place: JSONPointer(), keyword: schema.pointer, text: limit, showsValue: false)]
    }

    /// The maximum number of schemas to check, which is 50 for each value plus a constant, because nested alternatives
    /// can double the work at each level of the value.
    private static func steps(for value: JSONValue) -> Int {
        var steps = 5_000
        var rest = [value]
        while let value = rest.popLast() {
            steps += 50
            rest += value.array ?? value.object?.map(\.value) ?? []
        }
        return steps
    }

    /// The differences of the value at the current location. A redacted value matches every schema.
    mutating func problems(of value: JSONValue, in schema: OpenAPINode) -> [SchemaProblem] {
        if value.string == SecretFields.placeholder { return [] }
        guard depth < Self.maximumDepth else { return give(up: "the value is too deeply nested to check completely") }
        guard steps > 0 else { return give(up: "the schema has too many alternatives to check completely") }
        depth += 1
        steps -= 1
        defer { depth -= 1 }
        switch schema.value {
        case .object(let object): return problems(of: value, in: Keywords(object, node: schema))
        case .bool(true): return []
        case .bool(false): return [problem("the schema allows no value here", at: schema.pointer)]
        default: return [problem("the schema isn't an object", at: schema.pointer, showsValue: false)]
        }
    }

    private mutating func give(up reason: String) -> [SchemaProblem] {
        limit = reason
        return []
    }

    private mutating func problems(of value: JSONValue, in schema: Keywords) -> [SchemaProblem] {
        var found: [SchemaProblem] = []
        if schema["$ref"] != nil {
            found += referenceProblems(of: value, in: schema)
            if document.isVersion30 { return found }
        }
        if document.isVersion30, value == .null, schema["nullable"]?.bool == true { return [] }
        if let problem = typeProblem(of: value, in: schema) { return found + [problem] }
        found += valueProblems(of: value, in: schema)
        switch value {
        case .number(let number): found += problems(of: number, in: schema)
        case .string(let text): found += problems(of: text, in: schema)
        case .array(let elements): found += problems(of: elements, in: schema)
        case .object(let object): found += problems(of: object, in: schema)
        case .null, .bool: break
        }
        return schema.hasAlternatives ? found + compositionProblems(of: value, in: schema) : found
    }

    /// Checks a part of the value.
    mutating func problems(of value: JSONValue, at key: String, in schema: OpenAPINode) -> [SchemaProblem] {
        place.append(key)
        let outer = entered
        entered = []
        defer {
            place.removeLast()
            entered = outer
        }
        return problems(of: value, in: schema)
    }

    /// Checks the value against a referenced schema, unless that schema is already being checked at this location.
    mutating func problems(of value: JSONValue, inReferenced schema: OpenAPINode) -> [SchemaProblem] {
        guard entered.insert(schema.pointer).inserted else { return [] }
        defer { entered.remove(schema.pointer) }
        return problems(of: value, in: schema)
    }

    func isEntered(_ schema: OpenAPINode) -> Bool { entered.contains(schema.pointer) }

    private mutating func referenceProblems(of value: JSONValue, in schema: Keywords) -> [SchemaProblem] {
        let keyword = schema.pointer("$ref")
        guard let reference = schema["$ref"]?.string, let target = document.node(at: reference) else {
            let name = schema["$ref"]?.excerpt ?? ""
            return [problem("the document has no \(name), so this isn't checked", at: keyword, showsValue: false)]
        }
        return problems(of: value, inReferenced: target)
    }

    func problem(_ text: String, at keyword: JSONPointer, showsValue: Bool = true) -> SchemaProblem {
        SchemaProblem(place: JSONPointer(place), keyword: keyword, text: text, showsValue: showsValue)
    }
}

/// The keywords of a schema that is an object.
struct Keywords {
    private let object: JSONObject
    private let node: OpenAPINode

    init(_ object: JSONObject, node: OpenAPINode) {
        self.object = object
        self.node = node
    }

    subscript(keyword: String) -> JSONValue? { object[keyword] }

    func node(_ keyword: String) -> OpenAPINode? { node[keyword] }
    func pointer(_ keyword: String) -> JSONPointer { node.pointer.appending(keyword) }

    /// The value of a keyword for a count.
    func count(_ keyword: String) -> Int? {
        object[keyword]?.double.flatMap { Int(exactly: $0) }
    }

    private static let alternatives = ["allOf", "anyOf", "oneOf", "not", "if", "discriminator"]

    var hasAlternatives: Bool { Self.alternatives.contains { object[$0] != nil } }
}
