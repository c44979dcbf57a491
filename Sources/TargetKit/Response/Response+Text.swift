// SPDX-License-Identifier: MIT
import Foundation

extension Response {
    /// The body's text, or the JSON string at a key path.
    ///
    /// The whole body is read in the charset that `Content-Type` names (RFC 9110 §8.3.2) by one of the labels of the WHATWG
    /// Encoding Standard, or that its byte order mark says. Without either it is read as UTF-8, and what is no UTF-8 as
    /// windows-1252, which is what the web means by ISO-8859-1.
    ///
    /// - Parameter keyPath: Where in the body's JSON the string lies, `data.title` for one; default `nil`: the whole body.
    /// - Throws: ``TargetKitError`` of stage `.decoding` when there is no string at the key path, when the charset is unknown or
    ///   this system has none, or when the bytes are no text in it. Bytes that are UTF-8 are read whatever the label says.
    public func string(atKeyPath keyPath: String? = nil) throws(TargetKitError) -> String {
        if let keyPath, !keyPath.isEmpty { return try decode(String.self, atKeyPath: keyPath) }
        do throws(UnreadableBody) {
            return try Charset.text(of: data, label: charset)
        } catch {
            // A server may echo what was sent.
            guard case .charset(let label) = error, SentTexts(request).contains(label) else {
                throw decodingError(error)
            }
            throw decodingError(UnreadableBody.charset(""))
        }
    }

    /// The beginning of the body in one line, up to 200 characters, for the console of a developer who looks into a failure:
    /// `error.response?.excerpt`.
    ///
    /// White space and control characters are one space. A body may hold secrets, so it is in no description and no error's text:
    /// show it where you would show the body. Empty for a body without text, and for one in a ``file``.
    public var excerpt: String {
        let beginning = data.prefix(1 << 10)
        // The cut may have gone through a character.
        let cuts = (0...min(3, beginning.count)).lazy.map { beginning.dropLast($0) }
        let isUTF8 = charset == nil && data.count > beginning.count
        let whole = isUTF8 ? cuts.first { String(data: $0, encoding: .utf8) != nil } : nil
        let text =
            (try? Charset.text(of: whole ?? beginning, label: charset))
            ?? String(decoding: beginning, as: UTF8.self)
        let words = text.unicodeScalars.split { scalar in
            scalar.properties.isWhitespace || scalar.properties.isUnshown
        }
        return String(words.map { String($0) }.joined(separator: " ").prefix(200))
    }

    /// The charset that `Content-Type` names; `nil` when it names none.
    private var charset: String? {
        for parameter in headers[.contentType]?.split(separator: ";").dropFirst() ?? [] {
            let pair = parameter.split(separator: "=", maxSplits: 1)
            guard pair.count == 2,
                pair[0].trimmingCharacters(in: .whitespaces).equalsIgnoringASCIICase("charset")
            else {
                continue
            }
            let label = pair[1].trimmingCharacters(in: CharacterSet(charactersIn: " \t\"'"))
            return label.isEmpty ? nil : label
        }
        return nil
    }
}

extension Unicode.Scalar.Properties {
    /// Whether it is a control or format character, which could change how a console shows what is around it.
    fileprivate var isUnshown: Bool {
        switch generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate,
            .unassigned:
            true
        default: false
        }
    }
}
