// SPDX-License-Identifier: MIT

import Foundation

/// Bytes on their way into the kernel. Large pieces are not copied, small ones are put together.
struct OutputQueue {
    enum Flush {
        case done
        case blocked
        case broken
    }

    private static let smallSize = 16 << 10

    private var pieces: [Data] = []
    private var offset = 0

    /// How many bytes wait.
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

    /// Gives the kernel as much as it takes, and adds what it took to `sent`.
    mutating func flush(into descriptor: Int32, counting sent: Tally) -> Flush {
        while let piece = pieces.first {
            let written = piece.withUnsafeBytes { bytes in
                Socket.send(descriptor, UnsafeRawBufferPointer(rebasing: bytes[offset...]))
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
