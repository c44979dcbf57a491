// SPDX-License-Identifier: MIT
import OpenAPIDocument

/// Values for samples: the document's examples, or values made from the schemas, always the same ones.
struct SampleMaker {
    enum Direction { case request, response }

    let types: TypeBuilder
    private let checker: SampleChecker
    private let direction: Direction
    /// The level below which optional properties are left out.
    private let optionalLevels: Int

    init(types: TypeBuilder, direction: Direction, optionalLevels: Int = 3) {
        (self.types, self.direction, self.optionalLevels) = (types, direction, optionalLevels)
        checker = SampleChecker(types: types)
    }

    /// A value of a media type or parameter: its example, or that of its schema, or a made one.
    func value(of type: SwiftType, at content: Place?, schema: Place?) -> Node {
        for (place, example) in examples(at: content) {
            if checker.decodes(example, as: type) { return example }
            types.notes.add(place, "example", "the example doesn't match its schema; wrote a made value.")
        }
        return value(of: type, schema: schema, level: 0, open: [])
    }

    private func examples(at content: Place?) -> [(Place, Node)] {
        guard let content else { return [] }
        var examples: [(Place, Node)] = []
        if let place = content["example"] { examples.append((place, place.node)) }
        for (_, given) in content["examples"]?.members ?? [] {
            guard let place = try? types.document.resolved(given), let value = place["value"] else { continue }
            examples.append((value, value.node))
        }
        return examples
    }

    private func value(of type: SwiftType, schema place: Place?, level: Int, open: Set<String>) -> Node {
        let target = place.flatMap { types.resolved($0) }
        if let place, let target {
            let own = target.key == place.key ? [] : Schema(place).examples
            for example in own + Schema(target).examples where checker.decodes(example, as: type) {
                if example != .null || type.isOptional { return example }
            }
        }
        switch type {
        case .optional(let wrapped): return value(of: wrapped, schema: place, level: level, open: open)
        case .array(let element):
            let items = target.flatMap { Schema($0).items }
            guard level < 8, canMake(element, open: open) else { return .array([]) }
            return .array([value(of: element, schema: items, level: level + 1, open: open)])
        case .dictionary(let element):
            guard level < 8, canMake(element, open: open) else { return .object(Node.Members()) }
            var values: Place?
            if let target, case .schema(let place) = Schema(target).additionalProperties { values = place }
            let member = value(of: element, schema: values, level: level + 1, open: open)
            return .object(Node.Members([("key", member)]))
        case .named(let name): return value(ofDeclaration: name, level: level, open: open)
        case .json: return .object(Node.Members())
        default: return ScalarSample.value(of: type, schema: target.map(Schema.init))
        }
    }

    /// Whether the value of a type isn't within another value of it.
    private func canMake(_ type: SwiftType, open: Set<String>) -> Bool {
        guard let name = type.declarationName else { return true }
        return !open.contains(name)
    }

    private func value(ofDeclaration name: String, level: Int, open: Set<String>) -> Node {
        guard let declaration = types.declarations[name], level < 32 else { return .null }
        let open = open.union([name])
        switch declaration.shape {
        case .enumeration(let model): return model.members.first?.value ?? .string("")
        case .object(let model): return value(of: model, level: level, open: open)
        case .union(let model):
            let makeable = model.variants.first { canMake($0.type, open: open) }
            guard let variant = makeable ?? model.variants.first else { return .null }
            let value = value(of: variant.type, schema: variant.place, level: level + 1, open: open)
            guard let property = model.discriminator, let tag = variant.tags.first, var members = value.object else {
                return value
            }
            if let own = members[property]?.string, variant.tags.contains(own) { return value }
            members[property] = .string(tag)
            return .object(members)
        }
    }

    private func value(of model: ObjectModel, level: Int, open: Set<String>) -> Node {
        var members = Node.Members()
        for property in model.properties {
            if property.isOptional {
                let isAbsent = direction == .request ? property.isReadOnly : property.isWriteOnly
                guard !isAbsent, level < optionalLevels, canMake(property.type, open: open) else { continue }
            }
            let value = value(of: property.type, schema: property.place, level: level + 1, open: open)
            if !checker.decodes(value, as: property.type), property.isOptional { continue }
            members[property.wireName] = value
        }
        return .object(members)
    }
}

/// Values of types without parts.
enum ScalarSample {
    static func value(of type: SwiftType, schema: Schema?) -> Node {
        switch type {
        case .bool: .bool(true)
        case .int, .int32, .int64, .uint, .uint32, .uint64: .number("\(integer(schema))")
        case .double, .float, .decimal: number(schema)
        case .date: .string("2024-01-31T09:30:00Z")
        case .calendarDate: .string("2024-01-31")
        case .uuid: .string("7D444840-9DC0-11D1-B245-5FFDCE74FAD2")
        case .url: .string("https://example.com/")
        case .data: .string("AQID")
        default: .string(text(schema))
        }
    }

    private static func integer(_ schema: Schema?) -> Int {
        let node = schema?.place.node.object
        let minimum = node?["minimum"]?.int ?? (node?["exclusiveMinimum"]?.int).map { $0 + 1 }
        let step = node?["multipleOf"]?.int ?? 1
        var value = max(minimum ?? 1, 1)
        if let minimum, minimum > 1 { value = minimum }
        if let maximum = node?["maximum"]?.int { value = min(value, maximum) }
        guard step > 1, value < .max - step else { return value }
        return (value + step - 1) / step * step
    }

    private static func number(_ schema: Schema?) -> Node {
        let node = schema?.place.node.object
        if let minimum = node?["minimum"], let value = minimum.double, value > 1 { return minimum }
        if let maximum = node?["maximum"], let value = maximum.double, value < 1 { return maximum }
        return .number("1")
    }

    private static func text(_ schema: Schema?) -> String {
        var text =
            switch schema?.format {
            case "email": "user@example.com"
            case "hostname": "example.com"
            case "ipv4", "ip": "192.0.2.1"
            case "ipv6": "2001:db8::1"
            case "time": "09:30:00Z"
            case "duration": "PT1H"
            default: "text"
            }
        let minimum = schema?.place.node.object?["minLength"]?.int ?? 0
        if let maximum = schema?.place.node.object?["maxLength"]?.int, maximum >= 0 {
            text = String(text.prefix(maximum))
        }
        if text.count < minimum, minimum < 200 { text += String(repeating: "x", count: minimum - text.count) }
        return text
    }
}
