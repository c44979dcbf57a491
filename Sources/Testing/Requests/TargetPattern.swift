// SPDX-License-Identifier: MIT
import TargetKit

/// A pattern for the target of a request.
struct TargetPattern: Sendable {
    /// Returns the target's type and case, for messages.
    let description: @Sendable () -> String
    /// Whether the target of a request matches.
    let matches: @Sendable ((any TargetType)?) -> Bool
    /// What differs from the target of a request, and how much; `nil` if it matches.
    let difference: @Sendable ((any TargetType)?) -> (text: String, distance: Double)?

    /// A target that is equal to the given one.
    init<Target: TargetType & Equatable>(_ target: Target) {
        description = { target.name }
        matches = { Self.target($0, as: Target.self) == target }
        difference = { other in
            let name = target.name
            guard let found = Self.target(other, as: Target.self) else { return Self.difference(name, other) }
            guard found != target else { return nil }
            guard found.name == name else { return ("target: expected \(name), found \(found.name)", 1) }
            return ("target: \(name) has other values: \(Self.values(target, found))", 0.5)
        }
    }

    /// A target of the type for which the closure returns `true`.
    init<Target: TargetType>(_ type: Target.Type, _ isIncluded: @escaping @Sendable (Target) -> Bool) {
        description = { "a target of \(type)" }
        matches = { Self.target($0, as: type).map(isIncluded) ?? false }
        difference = { other in
            guard let found = Self.target(other, as: type) else { return Self.difference("\(type)", other) }
            return isIncluded(found) ? nil : ("target: \(found.name) does not meet the condition", 0.75)
        }
    }

    private static func target<Target: TargetType>(_ target: (any TargetType)?, as type: Target.Type) -> Target? {
        // A `MultiTarget` is never the target of a request, so a pattern of its type matches every target.
        target as? Target ?? target.flatMap { MultiTarget($0) as? Target }
    }

    private static func difference(_ expected: String, _ other: (any TargetType)?) -> (text: String, distance: Double) {
        ("target: expected \(expected), found \(other?.name ?? "a request without a target")", 2)
    }

    /// The values that differ, without secrets. Only texts, numbers and Boolean values are shown.
    private static func values(_ expected: some TargetType, _ found: some TargetType) -> String {
        let pairs = zip(associatedValues(expected), associatedValues(found))
        let texts = pairs.compactMap { expected, found -> String? in
            let (one, other) = ("\(expected.value)", "\(found.value)")
            guard one != other else { return nil }
            let label = expected.label
            guard expected.isPlain, found.isPlain else { return "\(label)" }
            let isSecret = SecretFields.isSecret(label)
            let shown = [one, other].map { MessageText.shown([$0], isSecret) }
            return "\(label): expected \(shown[0]), found \(shown[1])"
        }
        return texts.joined(separator: ", ")
    }

    private struct AssociatedValue {
        /// The value's label; for a value without one, the name of the case.
        let label: String
        let value: Any

        /// Whether the value is a text, number or Boolean value.
        var isPlain: Bool { value is any LosslessStringConvertible }
    }

    /// The associated values of an enum's case, or the properties of a structure.
    private static func associatedValues(_ target: Any) -> [AssociatedValue] {
        let mirror = Mirror(reflecting: target)
        guard mirror.displayStyle == .enum, let payload = mirror.children.first else {
            return mirror.children.map { AssociatedValue(label: $0.label ?? "", value: $0.value) }
        }
        let name = payload.label ?? ""
        let tuple = Mirror(reflecting: payload.value)
        guard tuple.displayStyle == .tuple else { return [AssociatedValue(label: name, value: payload.value)] }
        return tuple.children.map { child in
            let label = child.label.flatMap { $0.hasPrefix(".") ? nil : $0 }
            return AssociatedValue(label: label ?? name, value: child.value)
        }
    }
}
