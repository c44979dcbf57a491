// SPDX-License-Identifier: MIT
import Foundation

/// The bytes of a message that arrives in pieces. They are handed over as `Data` without a copy.
///
/// The memory grows with what has arrived, not with what a header announces.
final class MessageBytes {
    private var base: UnsafeMutableRawPointer?
    private var capacity = 0
    private(set) var count = 0

    /// The memory that stays for the next message.
    private static let keptCapacity = 4 << 10

    deinit {
        free(base)
    }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

    /// Appends up to a number of bytes. The closure initializes them, and returns how many there are.
    ///
    /// - Parameter limit: The size that the message may have. The memory doesn't grow far beyond it.
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

    /// Removes the bytes. The memory of a large message is freed.
    func removeAll() {
        count = 0
        guard capacity > Self.keptCapacity else { return }
        free(base)
        base = nil
        capacity = 0
    }

    /// Ensures that there is memory for more bytes, and returns where they begin.
    private func reserve(_ byteCount: Int, limit: Int) throws(WebSocketError) -> UnsafeMutableRawPointer {
        let needed = count + byteCount
        if let base, needed <= capacity { return base + count }
        let size = max(needed, min(capacity * 2, limit), 256)
        guard let memory = realloc(base, size) else {
            throw WebSocketError(.messageTooLarge, "there is no memory for a message of \(needed) bytes")
        }
        base = memory
        capacity = size
        return memory + count
    }
}
