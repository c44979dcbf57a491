// SPDX-License-Identifier: MIT
import Foundation

/// Every text of a value that does not access a property by name: `description`, `debugDescription`, `dump`, the
/// content of its `Mirror` at any depth, and for an error also the texts of its `NSError`.
public struct TextualForms {
    /// The texts, each with the way it was produced.
    public private(set) var texts: [(form: String, text: String)] = []
    private var seen: Set<ObjectIdentifier> = []
    /// Retains the visited objects, so that no other object gets the same address.
    private var kept: [AnyObject] = []
    private static let depthLimit = 12

    /// The texts of the value.
    public init(of value: Any) {
        add(value, "", depth: 0)
    }

    /// The ways in which texts that contain the word were produced.
    public func forms(holding word: String) -> [String] {
        texts.filter { $0.text.contains(word) }.map { "\($0.form): \($0.text.prefix(300))" }
    }

    private mutating func add(_ value: Any, _ place: String, depth: Int) {
        guard depth < Self.depthLimit else { return }
        if type(of: value) is AnyClass {
            let object = value as AnyObject
            guard seen.insert(ObjectIdentifier(object)).inserted else { return }
            kept.append(object)
        }
        texts.append((place + " description", "\(value)"))
        texts.append((place + " debugDescription", String(reflecting: value)))
        if depth == 0 {
            var dumped = ""
            dump(value, to: &dumped)
            texts.append((place + " dump", dumped))
        }
        if let data = value as? Data { texts.append((place + " bytes", String(decoding: data, as: UTF8.self))) }
        if let bytes = value as? [UInt8] { texts.append((place + " bytes", String(decoding: bytes, as: UTF8.self))) }
        if let error = value as? any Error { add(error: error, place, depth: depth) }
        var mirror: Mirror? = Mirror(reflecting: value)
        while let shown = mirror {
            for child in shown.children { add(child.value, "\(place).\(child.label ?? "_")", depth: depth + 1) }
            mirror = shown.superclassMirror
        }
    }

    private mutating func add(error: any Error, _ place: String, depth: Int) {
        texts.append((place + " localizedDescription", error.localizedDescription))
        let bridged = error as NSError
        texts.append((place + " NSError", "\(bridged) \(bridged.debugDescription)"))
        var dumped = ""
        dump(bridged, to: &dumped)
        texts.append((place + " dump of NSError", dumped))
        for (key, value) in bridged.userInfo { add(value, "\(place) userInfo[\(key)]", depth: depth + 1) }
    }
}
