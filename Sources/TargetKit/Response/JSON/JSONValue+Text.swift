// SPDX-License-Identifier: MIT

extension JSONValue {
    /// Returns the value as JSON text in UTF-8.
    ///
    /// - Parameters:
    ///   - sortedKeys: Whether keys are sorted at every level; default `false`, which preserves their order.
    ///   - pretty: Whether the text has line breaks and an indentation of two spaces; default `false`.
    public func jsonData(sortedKeys: Bool = false, pretty: Bool = false) -> Data {
        var writer = JSONWriter(sortedKeys: sortedKeys, pretty: pretty)
        writer.append(self)
        return Data(writer.json)
    }
}

extension JSONValue {
    /// The value as JSON text on one line.
    public var description: String {
        var writer = JSONWriter(sortedKeys: false, pretty: false)
        writer.append(self)
        return String(decoding: writer.json, as: UTF8.self)
    }
}
