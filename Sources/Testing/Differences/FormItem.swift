// SPDX-License-Identifier: MIT
import TargetKit

/// A decoded item of a query or form.
package struct FormItem: Sendable, Hashable {
    /// The name.
    package let name: String
    /// The value; `nil` without `=`.
    package let value: String?

    /// The items of a query or form, in order.
    package static func items(of text: String) -> [FormItem] {
        text.split(separator: "&").map { item in
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return FormItem(name: decoded(parts[0]), value: parts.count > 1 ? decoded(parts[1]) : nil)
        }
    }

    private static func decoded(_ text: Substring) -> String {
        // Most strings have no escapes.
        guard text.utf8.contains(where: { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "%") }) else {
            return String(text)
        }
        let text = text.replacingOccurrences(of: "+", with: " ")
        return text.removingPercentEncoding ?? text
    }
}

extension FormItem {
    /// The differences between two queries or forms by name, for example `query q: expected "tea", found "coffee"`. The
    /// order of different names doesn't matter.
    package static func differences(_ expected: [FormItem], found: [FormItem], subject: String) -> [String] {
        let names = (expected + found).map(\.name)
        var seen: Set<String> = []
        return names.filter { seen.insert($0).inserted }.compactMap { name in
            let old = expected.filter { $0.name == name }
            let new = found.filter { $0.name == name }
            return difference("\(subject) \(name)", expected: text(of: old), found: text(of: new))
        }
    }

    private static func text(of items: [FormItem]) -> String? {
        items.isEmpty ? nil : items.map { $0.value.map { "\"\($0)\"" } ?? "no value" }.joined(separator: ", ")
    }
}
