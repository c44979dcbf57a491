// SPDX-License-Identifier: MIT
import TargetKitJSON
import TargetKitTesting

// MARK: - Any value

extension SchemaCheck {
    func typeProblem(of value: JSONValue, in schema: Keywords) -> SchemaProblem? {
        guard let type = schema["type"] else { return nil }
        let types = type.array?.compactMap(\.string) ?? type.string.map { [$0] } ?? []
        guard !types.contains(where: { Self.has(value, type: $0) }) else { return nil }
        let names = types.map { Self.typeNames[$0] ?? $0.excerpt(40) }.joined(separator: " or ")
        return problem("expected \(names.isEmpty ? "no type" : names)", at: schema.pointer("type"))
    }

    private static let typeNames = [
        "null": "null", "boolean": "a Boolean", "integer": "an integer", "number": "a number", "string": "a string",
        "array": "an array", "object": "an object",
    ]

    private static func has(_ value: JSONValue, type: String) -> Bool {
        switch value {
        case .null: type == "null"
        case .bool: type == "boolean"
        case .number(let number): type == "number" || type == "integer" && number.isWhole
        case .string: type == "string"
        case .array: type == "array"
        case .object: type == "object"
        }
    }

    func valueProblems(of value: JSONValue, in schema: Keywords) -> [SchemaProblem] {
        var found: [SchemaProblem] = []
        if let values = schema["enum"]?.array, !values.contains(value) {
            let shown = values.prefix(8).map(\.excerpt).joined(separator: ", ")
            let rest = values.count > 8 ? ", … (\(values.count) values)" : ""
            found.append(problem("expected one of \(shown)\(rest)", at: schema.pointer("enum")))
        }
        if let constant = schema["const"], constant != value {
            found.append(problem("expected \(constant.excerpt)", at: schema.pointer("const")))
        }
        return found
    }
}

// MARK: - Numbers

extension SchemaCheck {
    func problems(of number: JSONNumber, in schema: Keywords) -> [SchemaProblem] {
        limitProblems(of: number, in: schema) + multipleProblems(of: number, in: schema)
            + formatProblems(of: number, in: schema)
    }

    private func limitProblems(of number: JSONNumber, in schema: Keywords) -> [SchemaProblem] {
        var found: [SchemaProblem] = []
        func check(_ keyword: String, _ text: String, _ fits: (JSONNumber) -> Bool) {
            guard let limit = schema[keyword]?.number, !fits(limit) else { return }
            found.append(problem("expected \(text) \(limit)", at: schema.pointer(keyword)))
        }
        // In version 3.0, an exclusive limit is a Boolean beside the limit.
        let excludesMinimum = schema["exclusiveMinimum"]?.bool == true
        let excludesMaximum = schema["exclusiveMaximum"]?.bool == true
        check("minimum", excludesMinimum ? "more than" : "at least") { limit in
            excludesMinimum ? limit.precedes(number) : !number.precedes(limit)
        }
        check("maximum", excludesMaximum ? "less than" : "at most") { limit in
            excludesMaximum ? number.precedes(limit) : !limit.precedes(number)
        }
        check("exclusiveMinimum", "more than") { $0.precedes(number) }
        check("exclusiveMaximum", "less than") { number.precedes($0) }
        return found
    }

    private func multipleProblems(of number: JSONNumber, in schema: Keywords) -> [SchemaProblem] {
        guard let divisor = schema["multipleOf"]?.number, !number.isMultiple(of: divisor) else { return [] }
        return [problem("expected a multiple of \(divisor)", at: schema.pointer("multipleOf"))]
    }

    private func formatProblems(of number: JSONNumber, in schema: Keywords) -> [SchemaProblem] {
        let fits: Bool
        switch schema["format"]?.string {
        case "int32": fits = number.isWhole && number.int64.flatMap { Int32(exactly: $0) } != nil
        case "int64": fits = number.int64 != nil
        default: fits = true
        }
        if fits { return [] }
        return [problem("expected the format \(schema["format"]?.string ?? "")", at: schema.pointer("format"))]
    }
}

extension JSONNumber {
    /// Whether the number is an integer, for example `1`, `1.0` or `1e300`.
    fileprivate var isWhole: Bool {
        if int64 != nil || uint64 != nil { return true }
        let text = description.lowercased()
        let parts = text.split(separator: "e", maxSplits: 1)
        let exponent = parts.count > 1 ? Int(parts[1].drop { $0 == "+" }) ?? (parts[1].hasPrefix("-") ? .min : .max) : 0
        let digits = (parts.first ?? "").split(separator: ".", maxSplits: 1)
        let fraction = digits.count > 1 ? digits[1] : ""
        let fractionCount = fraction.count - fraction.reversed().prefix { $0 == "0" }.count
        guard fractionCount == 0 else { return exponent >= fractionCount }
        let zeros = (digits.first ?? "").reversed().prefix { $0 == "0" }.count
        return exponent >= 0 || exponent >= -zeros
    }

    /// Whether the number is less than another.
    fileprivate func precedes(_ other: JSONNumber) -> Bool {
        if let one = int64, let two = other.int64 { return one < two }
        if let one = decimal, let two = other.decimal { return one < two }
        if let one = double, let two = other.double { return one < two }
        // Outside the range of a Double, the sign determines the order.
        let isBelow = description.hasPrefix("-")
        return double == nil ? isBelow : !other.description.hasPrefix("-")
    }

    fileprivate func isMultiple(of divisor: JSONNumber) -> Bool {
        if let one = int64, let two = divisor.int64 {
            return two == 0 || two == -1 || one % two == 0
        }
        if let one = decimal, let two = divisor.decimal, two != 0 {
            let quotient = one / two
            var (source, rounded) = (quotient, Decimal())
            NSDecimalRound(&rounded, &source, 0, .plain)
            if quotient.isFinite { return rounded == quotient && rounded * two == one }
        }
        guard let one = double, let two = divisor.double, two != 0 else { return true }
        return one.truncatingRemainder(dividingBy: two) == 0
    }
}

// MARK: - Strings

extension SchemaCheck {
    mutating func problems(of text: String, in schema: Keywords) -> [SchemaProblem] {
        var found: [SchemaProblem] = []
        let count = text.unicodeScalars.count
        if let least = schema.count("minLength"), count < least {
            let text = "expected \(Plural.of(least, noun: "character")) or more"
            found.append(problem(text, at: schema.pointer("minLength")))
        }
        if let most = schema.count("maxLength"), count > most {
            let text = "expected at most \(Plural.of(most, noun: "character"))"
            found.append(problem(text, at: schema.pointer("maxLength")))
        }
        if let pattern = schema["pattern"]?.string {
            switch patterns.matches(pattern, in: text) {
            case true?: break
            case false?:
                found.append(problem("expected a match of \(pattern.excerpt(80))", at: schema.pointer("pattern")))
            case nil:
                found.append(unreadable(pattern, at: schema.pointer("pattern")))
            }
        }
        if let format = schema["format"]?.string, SchemaFormat.allows(text, as: format) == false {
            found.append(problem("expected the format \(format)", at: schema.pointer("format")))
        }
        return found
    }

    /// The problem of a pattern that isn't checked.
    func unreadable(_ pattern: String, at keyword: JSONPointer) -> SchemaProblem {
        problem("the pattern \(pattern.excerpt(80)) is invalid or takes too long", at: keyword, showsValue: false)
    }
}
