// SPDX-License-Identifier: MIT
import TargetKitJSON
import TargetKitTesting

/// The keys and types of a JSON document, without its values. All elements of an array share one shape.
struct JSONShape: Sendable, Hashable {
    /// The names of the types, including `null`. Empty for the elements of an empty array, and for a redacted value,
    /// which can have any type.
    private(set) var types: Set<String> = []
    private var members: [String: Member] = [:]
    private var keys: [String] = []
    private var objectCount = 0
    private var elements: [JSONShape] = []

    private struct Member: Sendable, Hashable {
        var shape: JSONShape
        /// The number of objects that have the key.
        var count: Int

        mutating func add(_ other: Member) {
            shape.merge(other.shape)
            count += other.count
        }
    }

    init() {}

    init(_ value: JSONValue) {
        if value.string == SecretFields.placeholder { return }
        types = [value.typeName]
        switch value {
        case .object(let object):
            objectCount = 1
            for (key, value) in object {
                keys.append(key)
                members[key] = Member(shape: JSONShape(value), count: 1)
            }
        case .array(let array): elements = [array.reduce(into: JSONShape()) { $0.merge(JSONShape($1)) }]
        default: break
        }
    }

    /// Adds the shape of another value at the same location.
    private mutating func merge(_ other: JSONShape) {
        for (key, member) in other.members where members[key] != nil { members[key]?.add(member) }
        for key in other.keys where members[key] == nil {
            keys.append(key)
            members[key] = other.members[key]
        }
        if let otherElements = other.elements.first {
            if elements.isEmpty { elements = [otherElements] } else { elements[0].merge(otherElements) }
        }
        objectCount += other.objectCount
        types.formUnion(other.types)
    }

    /// Whether each object has the key of the member.
    private func isRequired(_ member: Member) -> Bool { member.count == objectCount }

    private static let object = JSONValue.object([:]).typeName
    private static let null = JSONValue.null.typeName

    /// The differences between a response's shape and this shape of the sample, one line each. The response can have
    /// more keys. A value that is `null` in the sample can have any type.
    func differences(to answer: JSONShape, path: [String] = []) -> [String] {
        let subject = path.isEmpty ? "" : path.joined(separator: ".") + ": "
        if types.isEmpty || types == [Self.null] { return [] }
        let unexpected = answer.types.subtracting(types)
        if !unexpected.isEmpty {
            return ["\(subject)the sample has \(Self.names(types)), the response \(Self.names(unexpected))"]
        }
        var lines: [String] = []
        if answer.types.contains(Self.object) {
            for key in keys {
                guard let member = members[key] else { continue }
                let path = path + [JSONDifference.escaped(key)]
                guard let other = answer.members[key] else {
                    if isRequired(member) { lines.append("\(path.joined(separator: ".")): missing in the response") }
                    continue
                }
                if isRequired(member), !answer.isRequired(other) {
                    lines.append("\(path.joined(separator: ".")): missing in some elements of the response")
                }
                lines += member.shape.differences(to: other.shape, path: path)
            }
        }
        if let elements = elements.first, let others = answer.elements.first {
            lines += elements.differences(to: others, path: path + ["[]"])
        }
        return lines
    }

    private static func names(_ types: Set<String>) -> String {
        types.sorted().map { $0.replacingOccurrences(of: "the ", with: "") }.joined(separator: " or ")
    }
}
