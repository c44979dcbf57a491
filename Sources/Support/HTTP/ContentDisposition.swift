// SPDX-License-Identifier: MIT

/// The file name of a `Content-Disposition` field (RFC 6266).
package enum ContentDisposition {
    /// A safe name for a new file, without folders; `nil` if the field has no usable name or isn't valid.
    ///
    /// `filename*` (RFC 8187), in UTF-8 or ISO 8859-1, is preferred. `filename` is used if `filename*` can't be decoded
    /// (RFC 6266 §4.3). Octets in it that aren't UTF-8 are read as ISO 8859-1.
    package static func fileName(in field: String) -> String? {
        // Some servers send the backslashes of a path unescaped; the name after the last backslash is unaffected, unless
        // it begins with a quotation mark.
        let field = HeaderParameters(FieldOctets.latin1(field), escaped: "\"\\")
        guard field.isValid, Set(field.parameters.map(\.name)).count == field.parameters.count else { return nil }
        if let parameter = field.parameters.first(where: { $0.name == "filename*" }), !parameter.isQuoted,
            let name = decoded(parameter.value).flatMap(SafeFileName.make)
        {
            return name
        }
        return field.parameters.first { $0.name == "filename" }.flatMap { SafeFileName.make($0.value) }
    }

    /// The text of an extended value, such as `UTF-8'en'%e2%82%ac%20rates` (RFC 8187 §3.2.1).
    private static func decoded(_ value: String) -> String? {
        let parts = value.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        var bytes: [UInt8] = []
        var rest = parts[2].utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst()?.hexadecimalDigit, let low = rest.popFirst()?.hexadecimalDigit else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        switch parts[0].lowercased() {
        case "utf-8": return String(bytes: bytes, encoding: .utf8)
        case "iso-8859-1": return String(bytes: bytes, encoding: .isoLatin1)
        default: return nil
        }
    }
}

/// Converts a name from a server to a file name that is safe on every system.
package enum SafeFileName {
    /// Most file systems limit a name to 255 bytes. The rest is for a number and the suffix of a partial file.
    private static let longest = 200
    /// The longest extension that a truncated name retains.
    private static let longestExtension = 20

    /// Reserved device names on Windows, with any extension.
    private static let devices: Set<String> = Set(
        ["con", "prn", "aux", "nul", "conin$", "conout$"] + (0...9).flatMap { ["com\($0)", "lpt\($0)"] }
    )

    /// The last path component, without control, invisible and bidirectional characters, and without leading or
    /// trailing dots and spaces; `nil` if nothing is left. Each of `:*?"<>|` is replaced by `_`, and a device name is
    /// prefixed with `_`.
    package static func make(_ text: String) -> String? {
        let last =
            text.unicodeScalars.split(omittingEmptySubsequences: false) { $0 == "/" || $0 == "\\" }.last ?? [][...]
        var name = String(String.UnicodeScalarView(last.compactMap(replacement)))
        name = trimmed(name)
        guard !name.isEmpty else { return nil }
        let stem = name.prefix { $0 != "." }
        if devices.contains(stem.trimmingCharacters(in: .whitespaces).lowercased()) { name = "_" + name }
        return shortened(name)
    }

    private static func replacement(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .lineSeparator, .paragraphSeparator: nil
        // Unassigned characters may be newer than this system.
        default: ":*?\"<>|".unicodeScalars.contains(scalar) ? "_" : scalar
        }
    }

    /// A name that begins with a dot is hidden, and Windows removes trailing dots and spaces.
    private static func trimmed(_ name: String) -> String {
        let ends = CharacterSet.whitespacesAndNewlines.union(CharacterSet(charactersIn: "."))
        return name.trimmingCharacters(in: ends)
    }

    /// The name, truncated between characters, with its extension.
    private static func shortened(_ name: String) -> String {
        guard name.utf8.count > longest else { return name }
        var (stem, end) = (name[...], "")
        if let dot = name.lastIndex(of: "."), name[dot...].utf8.count <= longestExtension {
            (stem, end) = (name[..<dot], String(name[dot...]))
        }
        while stem.utf8.count + end.utf8.count > longest { stem.removeLast() }
        return trimmed(String(stem)) + end
    }
}
