// SPDX-License-Identifier: MIT

/// Writes values as escaped `name=value` pairs. An array without elements and an object without members have no pair.
struct FormWriter {
    let arrays: URLEncodedFormEncoder.ArrayEncoding
    let bools: URLEncodedFormEncoder.BoolEncoding
    let spaceAsPlus: Bool
    var form: [UInt8] = []

    /// Returns the members as pairs.
    consuming func text(of object: JSONObject) -> String {
        form.reserveCapacity(object.count * 32)
        for (key, value) in object.members { write(value, name: escaped(key)) }
        return String(decoding: form, as: UTF8.self)
    }

    private mutating func write(_ value: JSONValue, name: String) {
        switch value {
        case .null: write("", name: name)
        case .bool(let flag):
            switch bools {
            case .numeric: write(flag ? "1" : "0", name: name)
            case .literal: write(flag ? "true" : "false", name: name)
            }
        case .number(let number): write(number.description, name: name)
        case .string(let text): write(text, name: name)
        case .array(let elements):
            for (index, element) in elements.enumerated() {
                switch arrays {
                case .plain: write(element, name: name)
                case .brackets: write(element, name: name + "%5B%5D")
                case .indexed: write(element, name: name + "%5B\(index)%5D")
                }
            }
        case .object(let object):
            for (key, value) in object.members { write(value, name: name + "%5B" + escaped(key) + "%5D") }
        }
    }

    private mutating func write(_ text: String, name: String) {
        if !form.isEmpty { form.append(UInt8(ascii: "&")) }
        form += name.utf8
        form.append(UInt8(ascii: "="))
        PercentEncoding.append(text, to: &form, spaceAsPlus: spaceAsPlus)
    }

    private func escaped(_ key: String) -> String {
        PercentEncoding.encode(key, spaceAsPlus: spaceAsPlus)
    }
}
