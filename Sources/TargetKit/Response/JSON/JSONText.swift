// SPDX-License-Identifier: MIT

/// Strings as JSON writes them (RFC 8259 §7).
enum JSONText {
    /// Appends the text in quotes. `"`, `\` and the control characters below U+0020 are escaped, nothing else is.
    @inline(__always)
    static func append(_ text: String, to json: inout ByteBuffer) {
        ContiguousText.read(text) { bytes in
            json.append(upTo: bytes.count * 6 + 2) { store(bytes, at: $0) }
        }
    }

    /// Stores the string at a place that has room for six times the bytes and the quotes, and returns how many it took.
    private static func store(_ bytes: UnsafeBufferPointer<UInt8>, at start: UnsafeMutablePointer<UInt8>) -> Int {
        start.pointee = UInt8(ascii: "\"")
        var end = start + 1
        for byte in bytes {
            if byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") {
                end.pointee = byte
                end += 1
            } else {
                end += storeEscape(of: byte, at: end)
            }
        }
        end.pointee = UInt8(ascii: "\"")
        return end + 1 - start
    }

    private static func storeEscape(of byte: UInt8, at end: UnsafeMutablePointer<UInt8>) -> Int {
        let short: UInt8? =
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): byte
            case 0x08: UInt8(ascii: "b")
            case 0x09: UInt8(ascii: "t")
            case 0x0A: UInt8(ascii: "n")
            case 0x0C: UInt8(ascii: "f")
            case 0x0D: UInt8(ascii: "r")
            default: nil
            }
        end[0] = UInt8(ascii: "\\")
        if let short {
            end[1] = short
            return 2
        }
        end[1] = UInt8(ascii: "u")
        end[2] = UInt8(ascii: "0")
        end[3] = UInt8(ascii: "0")
        end[4] = UInt8(ascii: "0") + byte >> 4
        end[5] = byte & 15 < 10 ? UInt8(ascii: "0") + byte & 15 : UInt8(ascii: "a") - 10 + byte & 15
        return 6
    }
}
