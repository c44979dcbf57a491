// SPDX-License-Identifier: MIT

/// The header of a frame (RFC 6455 §5.2).
struct WebSocketFrameHeader: Sendable {
    var opcode: WebSocketOpcode
    var isFinal = true
    var isCompressed = false
    var mask: WebSocketMask?
    /// The size of the payload in bytes.
    var length = 0

    /// The maximum size of a header in bytes.
    static let maximumSize = 14
    /// The maximum payload of a control frame in bytes (RFC 6455 §5.5).
    static let maximumControlLength = 125

    /// Parses a header as far as its bytes have arrived. Errors in the first bytes are thrown before the rest arrives.
    ///
    /// - Returns: The header and its size; `nil` if bytes are missing.
    static func parse(
        _ bytes: UnsafeRawBufferPointer,
        rules: WebSocketFrameRules
    ) throws(WebSocketError) -> (header: Self, size: Int)? {
        guard let base = bytes.baseAddress, let first = bytes.first else { return nil }
        guard let opcode = WebSocketOpcode(rawValue: first & WebSocketFrameBit.opcode) else {
            guard first & WebSocketFrameBit.reserved == 0 else { throw .reservedBits }
            let opcode = first & WebSocketFrameBit.opcode
            throw WebSocketError(.reservedOpcode, "a frame has the reserved opcode \(opcode)")
        }
        guard first & (WebSocketFrameBit.reserved & ~WebSocketFrameBit.compressed) == 0 else { throw .reservedBits }
        var header = Self(opcode: opcode)
        header.isFinal = first & WebSocketFrameBit.final != 0
        header.isCompressed = first & WebSocketFrameBit.compressed != 0
        try rules.checkKind(header)
        guard bytes.count > 1 else { return nil }
        let isMasked = bytes[1] & WebSocketFrameBit.masked != 0
        try rules.checkMask(isMasked)
        guard let (length, lengthEnd) = try length(in: bytes, isControl: opcode.isControl) else { return nil }
        header.length = length
        try rules.checkLength(header)
        guard isMasked else { return (header, lengthEnd) }
        guard bytes.count >= lengthEnd + 4 else { return nil }
        header.mask = WebSocketMask(key: base.loadUnaligned(fromByteOffset: lengthEnd, as: UInt32.self))
        return (header, lengthEnd + 4)
    }

    /// Parses the length, and returns it with the index after it; `nil` if bytes are missing.
    private static func length(
        in bytes: UnsafeRawBufferPointer,
        isControl: Bool
    ) throws(WebSocketError) -> (length: Int, end: Int)? {
        let short = Int(bytes[1] & WebSocketFrameBit.length)
        guard short > maximumControlLength else { return (short, 2) }
        guard !isControl else {
            throw WebSocketError(.controlFrameTooLong, "a control frame has more than 125 bytes")
        }
        let size = short == 126 ? 2 : 8
        guard bytes.count >= 2 + size else { return nil }
        var length: UInt64 = 0
        for index in 2..<(2 + size) { length = length << 8 | UInt64(bytes[index]) }
        guard length > (size == 2 ? 125 : UInt64(UInt16.max)), length <= UInt64(Int64.max) else {
            let message = length > UInt64(Int64.max) ? "exceeds 63 bits" : "isn't encoded in the fewest bytes"
            throw WebSocketError(.invalidLength, "the length of a frame \(message)")
        }
        return (Int(clamping: length), 2 + size)
    }

    /// Appends the header, with the masking key if there is one.
    func write(maskingKey: UInt32?, to output: inout [UInt8]) {
        var first = opcode.rawValue
        if isFinal { first |= WebSocketFrameBit.final }
        if isCompressed { first |= WebSocketFrameBit.compressed }
        let masked = maskingKey == nil ? 0 : WebSocketFrameBit.masked
        output.append(first)
        switch length {
        case ...Self.maximumControlLength: output.append(masked | UInt8(length))
        case ...Int(UInt16.max):
            output.append(masked | 126)
            output.append(UInt8(length >> 8))
            output.append(UInt8(length & 0xFF))
        default:
            output.append(masked | 127)
            for shift in stride(from: 56, through: 0, by: -8) {
                output.append(UInt8(truncatingIfNeeded: length >> shift))
            }
        }
        if let maskingKey { withUnsafeBytes(of: maskingKey) { output.append(contentsOf: $0) } }
    }
}
