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
            guard let object = value.object else { return false }
            guard let tag = object[property], tag != .null else {
                return model.untagged.contains { decodes(value, as: $0.type) }
            }
            guard let tag = tag.string else { return false }
            let variants = model.variants.filter { $0.tags.contains(tag) }
            return variants.isEmpty || variants.contains { decodes(value, as: $0.type) }
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

    /// Whether a text is a date by RFC 3339 §5.6, with or without seconds and an offset.
    private func isDate(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard bytes.count >= 16, matches(bytes.prefix(16), "0000-00-00T00:00") else { return false }
        let numbers = [0..<4, 5..<7, 8..<10, 11..<13, 14..<16].map {
            Int(String(decoding: bytes[$0], as: UTF8.self)) ?? 0
        }
        var rest = bytes.dropFirst(16)
        if matches(rest.prefix(3), ":00") {
            rest = rest.dropFirst(3)
            if rest.first == UInt8(ascii: ".") {
                let digits = rest.dropFirst().prefix(while: isDigit)
                guard !digits.isEmpty else { return false }
                rest = rest.dropFirst(1 + digits.count)
            }
        }
        let isZone =
            rest.isEmpty
            || ["Z", "z", "+00:00", "-00:00", "+0000", "-0000", "+00", "-00"].contains { matches(rest, $0) }
        return isZone && isDay(year: numbers[0], month: numbers[1], day: numbers[2]) && numbers[3] < 24
            && numbers[4] < 60
    }

    /// Whether bytes are a pattern, in which `0` is any digit, and `T` a space or a letter T.
    private func matches(_ bytes: ArraySlice<UInt8>, _ pattern: String) -> Bool {
        bytes.count == pattern.utf8.count
            && zip(bytes, pattern.utf8).allSatisfy { byte, expected in
                switch expected {
                case UInt8(ascii: "0"): isDigit(byte)
                case UInt8(ascii: "T"): [UInt8(ascii: "T"), UInt8(ascii: "t"), UInt8(ascii: " ")].contains(byte)
                default: byte == expected
                }
            }
    }

    private func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private func isDay(year: Int, month: Int, day: Int) -> Bool {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        return (1...12).contains(month) && (1...days[month - 1]).contains(day)
    }
}
