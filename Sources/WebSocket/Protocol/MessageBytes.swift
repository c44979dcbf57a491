// SPDX-License-Identifier: MIT
import Foundation

/// The bytes of a message that arrives in chunks. They become `Data` without a copy.
///
/// The memory grows with the received bytes, not with the size that a header announces.
final class MessageBytes {
    private var base: UnsafeMutableRawPointer?
    private var capacity = 0
    private(set) var count = 0

    /// The capacity that is retained for the next message.
    private static let keptCapacity = 4 << 10

    deinit {
        free(base)
    }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

    /// Appends up to a number of bytes. The closure initializes them, and returns their count.
    ///
    /// - Parameter limit: The maximum size of the message. The memory doesn't grow far beyond it.
    /// - Throws: ``WebSocketError/Reason/messageTooLarge`` if there is no memory, or what the closure throws.
    func append(
        _ byteCount: Int,
        limit: Int,
        initialize: (UnsafeMutableRawBufferPointer) throws(WebSocketError) -> Int
    ) throws(WebSocketError) {
        guard byteCount > 0 else { return }
        let end = try reserve(byteCount, limit: limit)
        count += try initialize(UnsafeMutableRawBufferPointer(start: end, count: byteCount))
    }

    /// Returns the bytes, and removes them.
    func takeData() -> Data {
        defer { removeAll() }
        guard let base, count > 0 else { return Data() }
        guard count > Self.keptCapacity else { return Data(bytes: base, count: count) }
        let exact = realloc(base, count) ?? base
        self.base = nil
        capacity = 0
        return Data(bytesNoCopy: exact, count: count, deallocator: .free)
    }

    /// The bytes as text.
    ///
    /// - Parameter isASCII: Whether they are ASCII. They must be UTF-8, which isn't checked again where Swift can do
    ///   without.
    func text(isASCII: Bool) -> String {
        guard let base, count > 0 else { return "" }
        if isASCII, count >= Self.hugeSize {
            // This checks ASCII again: 12 ms for 64 MB. The memory's small pages would take 50 ms.
            return String(unsafeUninitializedCapacity: count) { text in
                Self.useHugePages(UnsafeMutableRawBufferPointer(text))
                UnsafeMutableRawBufferPointer(text).copyMemory(from: bytes)
                return count
            }
        }
        #if compiler(>=6.2)
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            let units = bytes.assumingMemoryBound(to: UInt8.self).span
            return String(copying: UTF8Span(unchecked: units, isKnownASCII: isASCII))
        }
        #endif
        return String(decoding: UnsafeRawBufferPointer(start: base, count: count), as: UTF8.self)
    }

    /// The size from which memory is worth huge pages, several of them.
    private static let hugeSize = 8 << 20

    /// Lets Linux back new memory with huge pages, if the system allows them on request.
    private static func useHugePages(_ memory: UnsafeMutableRawBufferPointer) {
        #if os(Linux)
        guard let base = memory.baseAddress else { return }
        let start = base.alignedUp(toMultipleOf: Int(getpagesize()))
        _ = madvise(start, base + memory.count - start, MADV_HUGEPAGE)
        #endif
    }

    /// Removes the bytes, and frees the memory of a large message.
    func removeAll() {
        count = 0
        guard capacity > Self.keptCapacity else { return }
        free(base)
        base = nil
        capacity = 0
    }

    /// Reserves memory for more bytes, and returns their address.
    private func reserve(_ byteCount: Int, limit: Int) throws(WebSocketError) -> UnsafeMutableRawPointer {
        let needed = count + byteCount
        if let base, needed <= capacity { return base + count }
        let size = max(needed, min(capacity * 2, limit), 256)
        guard let memory = realloc(base, size) else {
            throw WebSocketError(.messageTooLarge, "there isn't enough memory for a message of \(needed) bytes")
        }
        base = memory
        capacity = size
        return memory + count
    }
}
