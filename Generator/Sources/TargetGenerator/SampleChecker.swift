// SPDX-License-Identifier: MIT
import Foundation
import OpenAPIDocument

/// Whether a value decodes into a type of the generated code, as its `Codable` conformance does it.
struct SampleChecker {
    let types: TypeBuilder

    func decodes(_ value: Node, as type: SwiftType) -> Bool {
        switch type {
        case .json: return true
        case .optional(let wrapped): return value == .null || decodes(value, as: wrapped)
        case .array(let element): return value.array?.allSatisfy { decodes($0, as: element) } ?? false
        case .dictionary(let element): return value.object?.values.allSatisfy { decodes($0, as: element) } ?? false
        case .named(let name): return decodes(value, as: types.declarations[name]?.shape)
        case .bool: return value.bool != nil
        case .int, .int32, .int64, .uint, .uint32, .uint64: return decodesInteger(value, as: type)
        case .double, .float, .decimal: return value.double?.isFinite ?? false
        case .string, .calendarDate: return value.string != nil
        case .date: return value.string.map(isDate) ?? false
        case .uuid: return value.string.map { UUID(uuidString: $0) != nil } ?? false
        case .url: return value.string.map { URL(string: $0) != nil } ?? false
        case .data: return value.string.map { Data(base64Encoded: $0) != nil } ?? false
        }
    }

    private func decodes(_ value: Node, as shape: Declaration.Shape?) -> Bool {
        switch shape {
        case .enumeration(let model):
            return model.rawType == .string ? value.string != nil : decodesInteger(value, as: .int)
        case .object(let model): return decodes(value, as: model)
        case .union(let model):
            guard let property = model.discriminator else {
                return model.variants.contains { decodes(value, as: $0.type) }
            }
            guard let tag = value.object?[property]?.string else { return false }
            return model.variants.contains { $0.tags.contains(tag) && decodes(value, as: $0.type) }
        case nil: return false
        }
    }

    private func decodes(_ value: Node, as model: ObjectModel) -> Bool {
        guard let members = value.object else { return false }
        for property in model.properties {
            guard let member = members[property.wireName], member != .null else {
                if property.isOptional { continue }
                return false
            }
            guard decodes(member, as: property.type) else { return false }
        }
        guard let additional = model.additional else { return true }
        let known = Set(model.properties.map(\.wireName))
        return members.pairs.allSatisfy { known.contains($0) || decodes($1, as: additional) }
    }

    private func decodesInteger(_ value: Node, as type: SwiftType) -> Bool {
        guard case .number(let text) = value else { return false }
        if type == .uint64, UInt64(text) != nil { return true }
        guard let number = value.int else { return false }
        switch type {
        case .int32: return Int32(exactly: number) != nil
        case .uint32: return UInt32(exactly: number) != nil
        case .uint, .uint64: return number >= 0
        default: return true
        }
    }

    /// Whether a text is a date by RFC 3339, with or without an offset.
    private func isDate(_ text: String) -> Bool {
        let pattern = #/(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2})(:\d{2}(\.\d+)?)?([Zz]|[+-]\d{2}(:?\d{2})?)?/#
        guard let match = try? pattern.wholeMatch(in: text) else { return false }
        guard let year = Int(match.1), let month = Int(match.2), let day = Int(match.3), let hour = Int(match.4),
            let minute = Int(match.5)
        else { return false }
        var date = DateComponents(year: year, month: month, day: day)
        date.calendar = Calendar(identifier: .gregorian)
        return date.isValidDate && hour < 24 && minute < 60
    }
}
