// SPDX-License-Identifier: MIT
import TargetKit

extension JSONValue {
    /// Whether it says nothing: `null`, or a text, list or object with nothing in it.
    var saysNothing: Bool {
        self == .null || string?.isEmpty == true || array?.isEmpty == true || dictionary?.isEmpty == true
    }

    /// In one line, for a person: keys sorted, texts without quotes, line ends written out.
    var line: String {
        if let string {
            string.replacing("\r\n", with: "␍␊").replacing("\r", with: "␍").replacing("\n", with: "␊")
        } else if let array {
            "[" + array.map(\.line).joined(separator: ", ") + "]"
        } else if let dictionary {
            "{" + dictionary.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.line)" }.joined(separator: ", ")
                + "}"
        } else {
            description
        }
    }
}
