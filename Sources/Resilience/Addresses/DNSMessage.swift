// SPDX-License-Identifier: MIT
import TargetKit

/// The messages of DNS (RFC 1035 §4) for the lookup of a host's addresses.
enum DNSMessage {
    /// A type of resource record.
    enum RecordType: UInt16, CaseIterable {
        /// An IPv4 address (RFC 1035 §3.4.1).
        case a = 1
        /// An IPv6 address (RFC 3596 §2.1).
        case aaaa = 28
    }

    /// The addresses of a host, and how long they are valid.
    struct Answer: Sendable, Equatable {
        var addresses: [String] = []
        /// The smallest TTL in seconds; `nil` without records.
        var seconds: UInt32?
    }

    struct Malformed: Error {}

    /// Returns a query for a host's records; `nil` if the host can't be a name in DNS.
    ///
    /// Its ID is 0, so that equal queries have equal bytes for HTTP caches (RFC 8484 §4.1).
    static func query(_ type: RecordType, of host: String) -> Data? {
        var labels = host.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        if labels.last?.isEmpty == true { labels.removeLast() }
        guard host.utf8.count <= 253, !labels.isEmpty, labels.allSatisfy({ (1...63).contains($0.count) }) else {
            return nil
        }
        // ID 0, recursion desired, one question.
        var data = Data([0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0])
        for label in labels {
            data.append(UInt8(label.count))
            data.append(contentsOf: label)
        }
        data.append(contentsOf: [0, 0, UInt8(type.rawValue), 0, 1])
        return data
    }

    /// Returns the addresses in a response to the query for a host's records.
    ///
    /// - Throws: `Malformed` if the bytes aren't a response, if they answer another question (RFC 5452 §9.1), or if the
    ///   server reports another failure than a missing name.
    static func answer(_ data: Data, to type: RecordType, of host: String) throws(Malformed) -> Answer {
        var reader = Reader(bytes: Array(data))
        let (_, flags) = (try reader.number16(), try reader.number16())
        let (isResponse, code) = (flags & 0x8000 != 0, flags & 0xF)
        let (questionCount, answerCount) = (try reader.number16(), try reader.number16())
        _ = try reader.bytes(4)
        guard isResponse, code == 0 || code == 3 else { throw Malformed() }
        for _ in 0..<questionCount {
            let start = reader.position
            try reader.skipName()
            _ = try reader.bytes(4)
            let question = reader.bytes[start..<reader.position].map(\.asciiLowercased)
            guard query(type, of: host)?.dropFirst(12).map(\.asciiLowercased) == question else { throw Malformed() }
        }
        var answer = Answer()
        for _ in 0..<answerCount {
            try reader.skipName()
            let (recordType, recordClass) = (try reader.number16(), try reader.number16())
            let seconds = UInt32(try reader.number16()) << 16 | UInt32(try reader.number16())
            let content = try reader.bytes(Int(try reader.number16()))
            // The highest bit means zero (RFC 2181 §8).
            answer.seconds = min(answer.seconds ?? .max, seconds & 1 << 31 == 0 ? seconds : 0)
            guard recordType == type.rawValue, recordClass == 1 else { continue }
            answer.addresses.append(try address(content, type))
        }
        return answer
    }

    private static func address(_ content: ArraySlice<UInt8>, _ type: RecordType) throws(Malformed) -> String {
        switch (type, content.count) {
        case (.a, 4): return content.map(String.init).joined(separator: ".")
        case (.aaaa, 16):
            let bytes = Array(content)
            let groups = stride(from: 0, to: 16, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
            return groups.map { String($0, radix: 16) }.joined(separator: ":")
        default: throw Malformed()
        }
    }
}

extension DNSMessage {
    /// Reads a message from its start, and throws at its end.
    private struct Reader {
        let bytes: [UInt8]
        private(set) var position = 0

        init(bytes: [UInt8]) {
            self.bytes = bytes
        }

        mutating func bytes(_ count: Int) throws(Malformed) -> ArraySlice<UInt8> {
            guard bytes.count - position >= count else { throw Malformed() }
            defer { position += count }
            return bytes[position..<position + count]
        }

        mutating func number16() throws(Malformed) -> UInt16 {
            let bytes = try bytes(2)
            return UInt16(bytes[bytes.startIndex]) << 8 | UInt16(bytes[bytes.startIndex + 1])
        }

        /// Skips a name, which ends with an empty label or a pointer to an earlier name (RFC 1035 §4.1.4).
        mutating func skipName() throws(Malformed) {
            while true {
                let length = try bytes(1)[position - 1]
                switch length {
                case 0: return
                case 0xC0...: return _ = try bytes(1)
                case 1...63: _ = try bytes(Int(length))
                default: throw Malformed()
                }
            }
        }
    }
}
