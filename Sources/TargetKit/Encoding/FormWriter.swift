// SPDX-License-Identifier: MIT

/// Writes escaped `name=value` pairs into one buffer. It keeps the name of the value that comes next, already escaped, so
/// that an array's or a dictionary's own name is escaped once for all of its elements.
struct FormWriter {
    /// The pairs so far.
    private(set) var bytes: [UInt8] = []
    /// The escaped name of what is written next.
    private(set) var name: [UInt8] = []
    private let arrays: URLEncodedFormEncoder.ArrayEncoding
    private let spaceAsPlus: Bool

    init(
        arrays: URLEncodedFormEncoder.ArrayEncoding,
        spaces: URLEncodedFormEncoder.SpaceEncoding,
        capacity: Int
    ) {
        self.arrays = arrays
        spaceAsPlus = spaces == .plusReplaced
        bytes.reserveCapacity(capacity)
        name.reserveCapacity(64)
    }

    var string: String { String(decoding: bytes, as: UTF8.self) }

    /// Begins a name at the root.
    mutating func startName(_ text: String) {
        name.removeAll(keepingCapacity: true)
        PercentEncoding.append(text, to: &name, spaceAsPlus: spaceAsPlus)
    }

    /// Goes into a dictionary's value: `[text]` is added to the name.
    mutating func appendName(bracketed text: String) {
        appendEscaped("%5B")
        PercentEncoding.append(text, to: &name, spaceAsPlus: spaceAsPlus)
        appendEscaped("%5D")
    }

    /// Goes into a value whose part of the name is written out.
    mutating func appendName(_ text: String) {
        PercentEncoding.append(text, to: &name, spaceAsPlus: spaceAsPlus)
    }

    /// Goes into an array's element.
    mutating func appendName(elementAt index: Int) {
        switch arrays {
        case .plain: break
        case .brackets:
            appendEscaped("%5B")
            appendEscaped("%5D")
        case .indexed:
            appendEscaped("%5B")
            NumberText.append(Int64(index), to: &name)
            appendEscaped("%5D")
        case .custom(let closure):
            startName(closure(PercentEncoding.decode(name, spaceAsPlus: spaceAsPlus), index))
        }
    }

    /// A name to come back to.
    struct Mark {
        fileprivate let count: Int
        /// The whole name, where an element's name need not begin with its array's.
        fileprivate let copy: [UInt8]?
    }

    /// The name as it is now.
    var mark: Mark {
        if case .custom = arrays { return Mark(count: name.count, copy: name) }
        return Mark(count: name.count, copy: nil)
    }

    /// Comes back out of elements and values, to the name that was marked.
    mutating func restore(_ mark: Mark) {
        if let copy = mark.copy {
            name = copy
        } else {
            name.removeSubrange(mark.count...)
        }
    }

    /// Writes a pair whose value needs escaping.
    mutating func write(_ text: some StringProtocol) {
        startValue()
        PercentEncoding.append(text, to: &bytes, spaceAsPlus: spaceAsPlus)
    }

    /// Writes a pair whose value is an integer.
    mutating func write(_ number: Int64) {
        startValue()
        NumberText.append(number, to: &bytes)
    }

    /// Writes a pair whose value is an integer.
    mutating func write(_ number: UInt64) {
        startValue()
        NumberText.append(number, to: &bytes)
    }

    private mutating func startValue() {
        if !bytes.isEmpty { bytes.append(UInt8(ascii: "&")) }
        bytes.append(contentsOf: name)
        bytes.append(UInt8(ascii: "="))
    }

    private mutating func appendEscaped(_ text: StaticString) {
        text.withUTF8Buffer { name.append(contentsOf: $0) }
    }
}
