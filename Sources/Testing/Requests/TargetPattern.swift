// SPDX-License-Identifier: MIT
import TargetKit

/// A pattern for the target of a request.
struct TargetPattern: Sendable {
    /// Returns the target's type and case, for messages.
    let description: @Sendable () -> String
    /// Whether the target of a request matches.
    let matches: @Sendable ((any TargetType)?) -> Bool
    /// The difference from the target of a request, and its distance; `nil` if it matches.
    let difference: @Sendable ((any TargetType)?) -> (text: String, distance: Double)?

    /// Matches a target that equals the given one.
    init<Target: TargetType & Equatable>(_ target: Target) {
        description = { target.name }
        matches = { Self.target($0, as: Target.self) == target }
        difference = { other in
            let name = target.name
            guard let found = Self.target(other, as: Target.self) else { return Self.difference(name, other: other) }
            guard found != target else { return nil }
            guard found.name == name else { return ("target: expected \(name), found \(found.name)", 1) }
            return ("target: \(name) has different values\(Self.values(target, found: found))", 0.5)
        }
    }

    /// Matches a target of the type for which the closure returns `true`.
    init<Target: TargetType>(_ type: Target.Type, isIncluded: @escaping @Sendable (Target) -> Bool) {
        description = { "a target of \(type)" }
        matches = { Self.target($0, as: type).map(isIncluded) ?? false }
        difference = { other in
            guard let found = Self.target(other, as: type) else { return Self.difference("\(type)", other: other) }
            return isIncluded(found) ? nil : ("target: \(found.name) doesn't meet the condition", 0.75)
        }
    }

    private static func target<Target: TargetType>(_ target: (any TargetType)?, as type: Target.Type) -> Target? {
        // A `MultiTarget` is never the target of a request, so a pattern of its type matches every target.
        target as? Target ?? target.flatMap { MultiTarget($0) as? Target }
    }

    private static func difference(_ expected: String, other: (any TargetType)?) -> (text: String, distance: Double) {
        ("target: expected \(expected), found \(other?.name ?? "a request without a target")", 2)
    }

    /// The differing values. A string, number or Boolean value is shown only if it has a label that doesn't indicate a
    /// secret, because in `login("ann", "…")`, nothing indicates which value is one.
    private static func values(_ expected: some TargetType, found: some TargetType) -> String {
        let pairs = Array(zip(associatedValues(expected), associatedValues(found)))
        var hasHidden = false
        let texts = pairs.enumerated().compactMap { index, pair -> String? in
            let (one, other) = ("\(pair.0.value)", "\(pair.1.value)")
            guard one != other else { return nil }
            guard let label = pair.0.label else {
                hasHidden = true
                return pairs.count == 1 ? "its value" : "value \(index + 1)"
            }
            guard pair.0.isPlain, pair.1.isPlain else { return label }
            let isSecret = SecretFields.isSecretParameter(label)
            let shown = [one, other].map { MessageText.shown([$0], isSecret: isSecret) }
            return "\(label): expected \(shown[0]), found \(shown[1])"
        }
        guard !texts.isEmpty else { return "" }
        return ": " + texts.joined(separator: ", ") + (hasHidden ? " (values without labels aren't shown)" : "")
    }

    private struct AssociatedValue {
        /// The value's label; `nil` for a value without one.
        let label: String?
        let value: Any

        /// Whether the value is a string, number or Boolean.
        var isPlain: Bool { value is any LosslessStringConvertible }
    }

    /// The associated values of an enum's case, or the properties of a structure.
    private static func associatedValues(_ target: Any) -> [AssociatedValue] {
        let mirror = Mirror(reflecting: target)
        guard mirror.displayStyle == .enum, let payload = mirror.children.first else {
            return mirror.children.map { AssociatedValue(label: $0.label, value: $0.value) }
        }
        let tuple = Mirror(reflecting: payload.value)
        guard tuple.displayStyle == .tuple else { return [AssociatedValue(label: nil, value: payload.value)] }
        return tuple.children.map { child in
            AssociatedValue(label: child.label.flatMap { $0.hasPrefix(".") ? nil : $0 }, value: child.value)
        }
    }
}
