// SPDX-License-Identifier: MIT

/// The Swift type of a value of the document.
indirect enum SwiftType: Hashable {
    case string, bool, int, int32, int64, uint, uint32, uint64, double, float, decimal
    /// A `date-time`.
    case date
    /// A `date`.
    case calendarDate
    case uuid, url, data
    /// Any JSON.
    case json
    case array(SwiftType)
    case dictionary(SwiftType)
    case optional(SwiftType)
    /// A declaration of the generated code, by its name.
    case named(String)

    /// The type as Swift source.
    var source: String {
        switch self {
        case .string: "String"
        case .bool: "Bool"
        case .int: "Int"
        case .int32: "Int32"
        case .int64: "Int64"
        case .uint: "UInt"
        case .uint32: "UInt32"
        case .uint64: "UInt64"
        case .double: "Double"
        case .float: "Float"
        case .decimal: "Decimal"
        case .date: "Date"
        case .calendarDate: "CalendarDate"
        case .uuid: "UUID"
        case .url: "URL"
        case .data: "Data"
        case .json: "JSONValue"
        case .array(let element): "[\(element.source)]"
        case .dictionary(let value): "[String: \(value.source)]"
        case .optional(let wrapped): "\(wrapped.source)?"
        case .named(let name): name
        }
    }

    /// The type without an outer optional.
    var unwrapped: SwiftType {
        if case .optional(let wrapped) = self { wrapped.unwrapped } else { self }
    }

    var isOptional: Bool {
        if case .optional = self { true } else { false }
    }

    /// The type, optional if it isn't yet.
    func optional(_ isOptional: Bool = true) -> SwiftType {
        isOptional && !self.isOptional ? .optional(self) : self
    }

    /// The declaration's name, through optionals.
    var declarationName: String? {
        if case .named(let name) = unwrapped { name } else { nil }
    }

    /// All types within, this one included.
    var parts: [SwiftType] {
        switch self {
        case .array(let inner), .dictionary(let inner), .optional(let inner): [self] + inner.parts
        default: [self]
        }
    }

    /// A word for the type, for the case of a union.
    var word: String {
        switch self {
        case .string: "string"
        case .bool: "bool"
        case .int, .int32, .int64, .uint, .uint32, .uint64: "integer"
        case .double, .float, .decimal: "number"
        case .date: "dateTime"
        case .calendarDate: "date"
        case .uuid: "uuid"
        case .url: "url"
        case .data: "data"
        case .json: "json"
        case .array(let element): element.word + "Array"
        case .dictionary(let value): value.word + "Dictionary"
        case .optional(let wrapped): wrapped.word
        case .named(let name): SwiftName.member(name)
        }
    }
}
