// SPDX-License-Identifier: MIT

extension Response {
    /// The body's text, or the JSON string at a key path.
    ///
    /// The whole body is decoded in the charset of its byte order mark or `Content-Type` (RFC 9110 §8.3.2): UTF-8,
    /// UTF-16, ISO-8859-1 and windows-1252, windows-1251, KOI8-R, GBK and GB 18030, Big5, Shift_JIS, EUC-JP and EUC-KR,
    /// by their labels in the WHATWG Encoding Standard. Without either, it is decoded as UTF-8 or, if it isn't valid
    /// UTF-8, as windows-1252, the meaning of ISO-8859-1 on the web. No byte is replaced by U+FFFD.
    ///
    /// - Parameter keyPath: The key path of a string in the JSON, for example `data.title`; default `nil`, which means
    ///   the whole body.
    /// - Throws: ``TargetKitError`` of stage `.decoding` if there is no string at the key path, or the charset is
    ///   unknown, isn't supported by this system, or doesn't match the bytes. Valid UTF-8 is decoded regardless of the
    ///   label.
    public func string(atKeyPath keyPath: String? = nil) throws(TargetKitError) -> String {
        if let keyPath, !keyPath.isEmpty { return try decode(String.self, atKeyPath: keyPath) }
        do { return try Charset.text(of: data, label: charset) } catch { throw decodingError(error) }
    }

    /// The beginning of the body in one line, up to 200 characters, for debugging: `error.response?.excerpt`.
    ///
    /// White space and control characters become one space. A body can contain secrets, so descriptions and error texts
    /// omit it. Show the excerpt only where you would show the body. Empty for a body without text or in a ``file``.
    public var excerpt: String {
        let beginning = data.prefix(1 << 10)
        // The limit may split a character.
        let cuts = (0...(data.count > beginning.count ? 3 : 0)).lazy.map { beginning.dropLast($0) }
        let utf8 = charset == nil ? cuts.compactMap { String(data: $0, encoding: .utf8) }.first : nil
        let text =
            utf8 ?? cuts.compactMap { try? Charset.text(of: $0, label: charset) }.first
            ?? String(decoding: beginning, as: UTF8.self)
        var (line, isAfterSpace) = ("", false)
        for scalar in text.unicodeScalars {
            let isSpace = scalar.properties.isWhitespace || scalar.properties.isUnshown
            if !isSpace {
                if isAfterSpace, !line.isEmpty { line += " " }
                line.unicodeScalars.append(scalar)
            }
            isAfterSpace = isSpace
        }
        return String(line.prefix(200))
    }

    /// The charset in `Content-Type`; `nil` if it has none.
    private var charset: String? {
        let labels = headers[.contentType].map { HeaderParameters($0).values(of: "charset") } ?? []
        let label = labels.first?.trimmingCharacters(in: CharacterSet(charactersIn: " \t\"'"))
        return label?.isEmpty == false ? label : nil
    }
}

extension Unicode.Scalar.Properties {
    /// Whether it is a control or format character, which can affect how a console displays text.
    fileprivate var isUnshown: Bool {
        switch generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate,
            .unassigned:
            true
        default: false
        }
    }
}
