// SPDX-License-Identifier: MIT
import Foundation

/// What a line of an event stream says (HTML standard §9.2.6).
enum ServerSentEventField: Sendable, Hashable {
    /// The line is empty: the event is over.
    case end
    case data(String)
    case event(String)
    case id(String)
    case retry(Duration)
    /// A comment, a field that nobody knows, or one whose value breaks its rules.
    case ignored

    /// Bytes that are not UTF-8 become U+FFFD.
    init(_ line: UnsafeRawBufferPointer) {
        guard let start = line.baseAddress, !line.isEmpty else {
            self = .end
            return
        }
        let colon = memchr(start, 0x3A, line.count).map { UnsafeRawPointer($0) - start } ?? line.count
        var value = line[min(colon + 1, line.count)...]
        if value.first == 0x20 { value = value.dropFirst() }
        self.init(
            name: UnsafeRawBufferPointer(rebasing: line[..<colon]),
            value: UnsafeRawBufferPointer(rebasing: value)
        )
    }

    private init(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        if Self.reads(name, "data") {
            self = .data(String(decoding: value, as: UTF8.self))
        } else if Self.reads(name, "event") {
            self = .event(String(decoding: value, as: UTF8.self))
        } else if Self.reads(name, "id") {
            self = value.contains(0) ? .ignored : .id(String(decoding: value, as: UTF8.self))
        } else if Self.reads(name, "retry") {
            self = Self.milliseconds(value).map { .retry(.milliseconds($0)) } ?? .ignored
        } else {
            self = .ignored
        }
    }

    private static func reads(_ name: UnsafeRawBufferPointer, _ word: StaticString) -> Bool {
        guard name.count == word.utf8CodeUnitCount, let start = name.baseAddress else { return false }
        return memcmp(start, word.utf8Start, name.count) == 0
    }

    /// The number, if there are digits and nothing else; at most `Int32.max`, 24 days, which no clock overflows at.
    private static func milliseconds(_ digits: UnsafeRawBufferPointer) -> Int64? {
        guard !digits.isEmpty else { return nil }
        var number: Int64 = 0
        for digit in digits {
            guard (0x30...0x39).contains(digit) else { return nil }
            number = min(number * 10 + Int64(digit - 0x30), Int64(Int32.max))
        }
        return number
    }
}
