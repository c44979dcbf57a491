// SPDX-License-Identifier: MIT

/// Writes the tree of an `Encodable` as `name=value` pairs, with the options of a ``URLEncodedFormEncoder``.
struct FormSerializer: ~Copyable {
    private var form: FormWriter
    private let rules: URLEncodedFormEncoder

    init(rules: URLEncodedFormEncoder) {
        self.rules = rules
        form = FormWriter(arrays: rules.arrayEncoding, spaceAsPlus: rules.encodesSpacesAsPlus, capacity: 256)
    }

    /// Returns the bytes.
    consuming func finish() -> ByteBuffer { form.finish() }

    mutating func write(root: FormNode) throws {
        switch root.content {
        case .empty: break
        case .text: throw ParameterEncodingError(.rootWithoutKeys("a single value"))
        case .list: throw ParameterEncodingError(.rootWithoutKeys("an array"))
        case .object(let object):
            for (name, node) in named(object) {
                form.startName(name)
                write(node)
            }
        }
    }

    private mutating func write(_ node: FormNode) {
        switch node.content {
        case .empty: break
        case .text(let text): form.write(text)
        case .object(let object):
            let mark = form.mark()
            for (name, node) in named(object) {
                form.appendName(bracketed: name)
                write(node)
                form.restore(mark)
            }
        case .list(let nodes):
            let mark = form.mark()
            for (index, node) in arranged(nodes).enumerated() {
                form.appendName(elementAt: index)
                write(node)
                form.restore(mark)
            }
        }
    }

    /// The values and their names, sorted if the options require it.
    private func named(_ object: FormObject) -> [(name: String, node: FormNode)] {
        var children = object.children
        if rules.alphabetizeKeyValuePairs { KeyOrder.sort(&children, by: \.name) }
        return children
    }

    /// The nonempty elements, in order.
    ///
    /// A reader can't distinguish nested arrays without an index in their names. They are grouped by depth, deepest
    /// first, followed by objects, as in Alamofire.
    private func arranged(_ nodes: [FormNode]) -> [FormNode] {
        let written = nodes.filter { if case .empty = $0.content { false } else { true } }
        guard rules.alphabetizeKeyValuePairs, hasAnonymousElements, written.contains(where: { $0.listDepth > 0 }) else {
            return written
        }
        return written.enumerated()
            .sorted { ($1.element.listDepth, $0.offset) < ($0.element.listDepth, $1.offset) }
            .map(\.element)
    }

    private var hasAnonymousElements: Bool {
        switch rules.arrayEncoding {
        case .brackets, .plain: true
        case .indexed: false
        }
    }
}

extension FormNode {
    /// The number of levels of nested arrays.
    fileprivate var listDepth: Int {
        guard case .list(let nodes) = content else { return 0 }
        return 1 + (nodes.first?.listDepth ?? 0)
    }
}

/// A node in the tree of values that an `Encodable` encodes.
///
/// It is a class because an `Encodable` can have several containers for the same node at the same time. It exists only
/// during one call of `encode`.
final class FormNode {
    enum Content {
        /// Nothing is written yet.
        case empty
        case text(String)
        case list([FormNode])
        case object(FormObject)
    }

    private(set) var content = Content.empty

    /// Replaces the content with text.
    func set(_ text: String) {
        content = .text(text)
    }

    /// Makes an empty node a list, so that an empty array is distinct from no value.
    func becomeListIfEmpty() {
        if case .empty = content { content = .list([]) }
    }

    /// Makes an empty node an object, so that an empty object is distinct from no value.
    func becomeObjectIfEmpty() {
        if case .empty = content { content = .object(FormObject()) }
    }

    /// The child with a name, created if needed. Replaces any other content with an object.
    func child(named name: String) -> FormNode {
        let object: FormObject
        if case .object(let existing) = content {
            object = existing
        } else {
            object = FormObject()
            content = .object(object)
        }
        return object.child(named: name)
    }

    /// A new element at the end of the list. Replaces any other content with a list.
    func newElement() -> FormNode {
        let node = FormNode()
        if case .list(var nodes) = content {
            content = .empty
            nodes.append(node)
            content = .list(nodes)
        } else {
            content = .list([node])
        }
        return node
    }

    /// The number of elements in the list.
    var count: Int {
        if case .list(let nodes) = content { return nodes.count }
        return 0
    }
}

/// The named children of a node, in the order of their first use.
final class FormObject {
    private(set) var children: [(name: String, node: FormNode)] = []
    private var positions: [String: Int] = [:]

    func child(named name: String) -> FormNode {
        if let position = positions[name] { return children[position].node }
        let node = FormNode()
        positions[name] = children.count
        children.append((name, node))
        return node
    }
}
