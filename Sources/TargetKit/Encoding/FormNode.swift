// SPDX-License-Identifier: MIT

/// A place in the form that an `Encodable` is being written into.
///
/// It is an object with identity, since an `Encodable` may hold several containers for one place at once. Within one call
/// of `encode` only; it never leaves that call.
final class FormNode {
    enum Content {
        /// Nothing has been written.
        case empty
        case text(String)
        case list([FormNode])
        case object(FormObject)
    }

    private(set) var content = Content.empty

    /// Whatever was there, a text is there now.
    func set(_ text: String) {
        content = .text(text)
    }

    /// Makes an empty place a list, so that an empty array is known for one.
    func becomeListIfEmpty() {
        if case .empty = content { content = .list([]) }
    }

    /// Makes an empty place an object, so that an empty one is known for one.
    func becomeObjectIfEmpty() {
        if case .empty = content { content = .object(FormObject()) }
    }

    /// The place under a name: the one that is there, or a new one. What is no object becomes one.
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

    /// A new place at the end of the list. What is no list becomes one.
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

    /// How many elements the list has.
    var count: Int {
        if case .list(let nodes) = content { return nodes.count }
        return 0
    }
}

/// Named places, in the order of their first use.
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
