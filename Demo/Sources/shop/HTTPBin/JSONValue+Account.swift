// SPDX-License-Identifier: MIT
import TargetKit

extension JSONValue {
    /// Whether it says nothing: `null`, or a text, list or object with nothing in it.
    var saysNothing: Bool {
        switch self {
        case .null: true
        case .string(let text): text.isEmpty
        case .array(let values): values.isEmpty
        case .object(let object): object.isEmpty
        case .bool, .number: false
        }
    }

    /// In one line, for a person: keys sorted, texts without quotes, line ends written out.
    var line: String {
        switch self {
        case .null, .bool, .number: description
        case .string(let text):
            text.replacing("\r\n", with: "␍␊").replacing("\r", with: "␍").replacing("\n", with: "␊")
        case .array(let values): "[" + values.map(\.line).joined(separator: ", ") + "]"
        case .object(let object):
            "{" + object.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.line)" }.joined(separator: ", ") + "}"
        }
    }
}
