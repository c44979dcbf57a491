// SPDX-License-Identifier: MIT
import Foundation

/// The position of a request in a distributed trace, as the values of `traceparent` and `tracestate` (W3C Trace
/// Context, https://www.w3.org/TR/trace-context/).
public struct TraceContext: Sendable, Hashable {
    private struct TraceNumber: Sendable, Hashable {
        var high: UInt64
        var low: UInt64
    }

    private var traceNumber: TraceNumber
    private var spanNumber: UInt64
    private var flags: UInt8

    /// The data of tracing systems (§3.3), which is sent unchanged; `nil` if there is none.
    public let tracestate: String?

    /// Whether the trace is recorded (§3.2.2.5).
    public var isSampled: Bool {
        get { flags & 1 == 1 }
        set { flags = newValue ? flags | 1 : flags & ~1 }
    }

    /// Starts a trace with a random identifier.
    ///
    /// - Parameter isSampled: Whether the trace is recorded; default `true`.
    public init(isSampled: Bool = true) {
        traceNumber = TraceNumber(high: .random(in: 1 ... .max), low: .random(in: 0 ... .max))
        spanNumber = .random(in: 1 ... .max)
        flags = isSampled ? 1 : 0
        tracestate = nil
    }

    /// Reads the fields of a request, to continue its trace.
    ///
    /// - Parameters:
    ///   - traceparent: The value of `traceparent`, of version 00 or a later one.
    ///   - tracestate: The value of `tracestate`; default: none. An invalid value is ignored.
    /// - Returns: `nil` if `traceparent` is invalid (§3.2).
    public init?(traceparent: String, tracestate: String? = nil) {
        let bytes = Array(traceparent.utf8)
        let isLater = bytes.count > 55 && bytes[55] == UInt8(ascii: "-") && !bytes.starts(with: "00".utf8)
        guard bytes.count == 55 || isLater, [2, 35, 52].allSatisfy({ bytes[$0] == UInt8(ascii: "-") }),
            let version = Self.number(bytes[0..<2]), version != 0xFF, let high = Self.number(bytes[3..<19]),
            let low = Self.number(bytes[19..<35]), high | low != 0, let span = Self.number(bytes[36..<52]), span != 0,
            let flags = Self.number(bytes[53..<55])
        else { return nil }
        traceNumber = TraceNumber(high: high, low: low)
        spanNumber = span
        // The other flags have no meaning in version 00.
        self.flags = UInt8(flags) & 1
        self.tracestate = tracestate.flatMap { TraceState.isValid($0) ? $0 : nil }
    }

    /// The trace of the current task; `nil` if there is none. In a server, for example, it is the trace of the request
    /// being handled. Calls that start within `TraceContext.$current.withValue(trace) { … }` continue it.
    @TaskLocal public static var current: TraceContext?

    /// The identifier of the trace: 32 hexadecimal digits.
    public var traceID: String {
        Self.text(32) { text in
            Self.write(traceNumber.high, to: text, 0..<16)
            Self.write(traceNumber.low, to: text, 16..<32)
        }
    }

    /// The identifier of the span: 16 hexadecimal digits.
    public var spanID: String { Self.text(16) { Self.write(spanNumber, to: $0, 0..<16) } }

    /// The value of `traceparent`: version, trace, span and flags.
    public var traceparent: String {
        // Strings that are joined cost ten times as much.
        Self.text(55) { text in
            Self.write(0, to: text, 0..<2)
            Self.write(traceNumber.high, to: text, 3..<19)
            Self.write(traceNumber.low, to: text, 19..<35)
            Self.write(spanNumber, to: text, 36..<52)
            Self.write(UInt64(flags), to: text, 53..<55)
        }
    }

    /// Returns a new span of the same trace.
    public func child() -> TraceContext {
        var child = self
        child.spanNumber = .random(in: 1 ... .max)
        return child
    }

    /// A text of hyphens, some of which are replaced.
    private static func text(_ count: Int, _ write: (UnsafeMutableBufferPointer<UInt8>) -> Void) -> String {
        String(unsafeUninitializedCapacity: count) { text in
            text.initialize(repeating: UInt8(ascii: "-"))
            write(text)
            return count
        }
    }

    /// Writes a number in lowercase hexadecimal digits.
    private static func write(_ number: UInt64, to text: UnsafeMutableBufferPointer<UInt8>, _ digits: Range<Int>) {
        var rest = number
        for index in digits.reversed() {
            let digit = UInt8(rest & 15)
            text[index] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit
            rest >>= 4
        }
    }

    /// The value of lowercase hexadecimal digits.
    private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
        var number: UInt64 = 0
        for digit in digits {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | UInt64(digit - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): number = number << 4 | UInt64(digit - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        return number
    }
}

/// The syntax of `tracestate` (§3.3.1).
private enum TraceState {
    /// Whether the text is a list of at most 32 members with different keys.
    static func isValid(_ text: String) -> Bool {
        let members = text.split(separator: ",").map { $0.drop { $0 == " " || $0 == "\t" } }.filter { !$0.isEmpty }
        var keys: Set<Substring> = []
        for member in members {
            let key = member.prefix { $0 != "=" }
            let value = member[key.endIndex...].dropFirst()
            guard key.endIndex != member.endIndex, isKey(key), isValue(value), keys.insert(key).inserted else {
                return false
            }
        }
        return !members.isEmpty && members.count <= 32
    }

    private static func isKey(_ key: Substring) -> Bool {
        let parts = key.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count <= 2, key.utf8.count <= 256 else { return false }
        return parts.allSatisfy { part in
            guard let first = part.utf8.first, isLetterOrDigit(first) else { return false }
            return part.utf8.allSatisfy { isLetterOrDigit($0) || "_-*/".utf8.contains($0) }
        }
    }

    private static func isValue(_ value: Substring) -> Bool {
        let value = value.utf8.reversed().drop { $0 == 0x20 || $0 == 0x09 }
        return !value.isEmpty && value.count <= 256
            && value.allSatisfy { (0x20...0x7E).contains($0) && $0 != UInt8(ascii: "=") }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
