// SPDX-License-Identifier: MIT

import Foundation

/// Bytes that the kernel hasn't accepted yet. Small chunks are combined; large ones aren't copied.
struct OutputQueue {
    enum Flush {
        case done
        case blocked
        case broken
    }

    private static let smallSize = 16 << 10

    private var pieces: [Data] = []
    private var offset = 0

    /// The number of bytes.
    private(set) var count = 0

    mutating func append(_ data: Data) {
        guard !data.isEmpty else { return }
        count += data.count
        if let last = pieces.last, last.count + data.count <= Self.smallSize {
            pieces[pieces.count - 1].append(data)
        } else {
            pieces.append(data)
        }
    }

    /// Passes bytes to the kernel until it accepts no more, and adds their number to a counter.
    mutating func flush(into descriptor: Int32, counting sent: Tally) -> Flush {
        while let piece = pieces.first {
            let written = piece.withUnsafeBytes { bytes in
                Socket.send(descriptor, bytes: UnsafeRawBufferPointer(rebasing: bytes[offset...]))
            }
            guard written >= 0 else { return Socket.wouldBlock ? .blocked : .broken }
            sent.add(written)
            count -= written
            offset += written
            if offset == piece.count {
                pieces.removeFirst()
                offset = 0
            }
        }
        return .done
    }
}
