// SPDX-License-Identifier: MIT

/// Writes escaped `name=value` pairs into one buffer.
///
/// A second buffer holds the escaped name of the current array or dictionary, so that it is escaped only once for all
/// elements.
struct FormWriter: ~Copyable {
    private var bytes: ByteBuffer
    private var name = ByteBuffer(capacity: 0)
    /// A root name that isn't in `name` yet. Most root names are written directly to `bytes`.
    private var root: String?
    private let arrays: URLEncodedFormEncoder.ArrayEncoding
    private let spaceAsPlus: Bool
    /// The number of pairs written so far.
    private(set) var pairCount = 0

    /// Creates a writer that appends pairs to text.
    init(
        after text: String = "",
        arrays: URLEncodedFormEncoder.ArrayEncoding,
        spaceAsPlus: Bool,
        capacity: Int
    ) {
        self.arrays = arrays
        self.spaceAsPlus = spaceAsPlus
        bytes = ByteBuffer(capacity: capacity + text.utf8.count)
        bytes.append(text)
    }

    /// Returns the bytes.
    consuming func finish() -> ByteBuffer { bytes }

    /// Begins a name at the root.
    @inline(__always)
    mutating func startName(_ text: String) {
        root = text
    }

    /// Appends `[text]` to the name, for a dictionary's value.
    mutating func appendName(bracketed text: String) {
        name.append(literal: "%5B")
        PercentEncoding.append(text, to: &name, spaceAsPlus: spaceAsPlus)
        name.append(literal: "%5D")
    }

    /// Appends an array element's suffix to the name.
    mutating func appendName(elementAt index: Int) {
        switch arrays {
        case .plain: break
        case .brackets: name.append(literal: "%5B%5D")
        case .indexed:
            name.append(literal: "%5B")
            NumberText.append(Int64(index), to: &name)
            name.append(literal: "%5D")
        }
    }

    /// The length of the name before a container's elements are written.
    mutating func mark() -> Int {
        if let root {
            name.truncate(to: 0)
            PercentEncoding.append(root, to: &name, spaceAsPlus: spaceAsPlus)
            self.root = nil
        }
        return name.count
    }

    /// Restores the name's length at the mark.
    mutating func restore(_ mark: Int) {
        name.truncate(to: mark)
    }

    /// Writes the name with a value that needs escaping.
    @inline(__always)
    mutating func write(_ text: some StringProtocol) {
        startValue()
        PercentEncoding.append(text, to: &bytes, spaceAsPlus: spaceAsPlus)
    }

    /// Writes the name with an integer.
    @inline(__always)
    mutating func write(_ number: Int64) {
        startValue()
        NumberText.append(number, to: &bytes)
    }

    /// Writes the name with an integer.
    @inline(__always)
    mutating func write(_ number: UInt64) {
        startValue()
        NumberText.append(number, to: &bytes)
    }

    @inline(__always)
    private mutating func startValue() {
        if pairCount > 0 { bytes.append(UInt8(ascii: "&")) }
        pairCount += 1
        if let root {
            PercentEncoding.append(root, to: &bytes, spaceAsPlus: spaceAsPlus)
        } else {
            name.read { bytes.append($0) }
        }
        bytes.append(UInt8(ascii: "="))
    }
}
