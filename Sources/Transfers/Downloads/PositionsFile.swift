// SPDX-License-Identifier: MIT
import TargetKit

/// The file with the positions of a part's segments. It is updated whenever bytes are stored, so that the positions
/// survive the end of the process. It contains an identifier and the positions, in the byte order of the device.
///
/// After a system crash, the positions in the record are used.
final class PositionsFile: Sendable {
    private let descriptor: Int32

    /// Replaces the file; returns `nil` on failure. The positions in the last record are then used.
    init?(_ url: URL, identifier: UInt64, positions: [Int64]) {
        let words = [identifier] + positions.map { UInt64(bitPattern: $0) }
        guard let descriptor = words.withUnsafeBytes({ PartialFile.replace(url, by: $0) }) else { return nil }
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// Writes a position. A failure isn't reported, because it only means that more bytes are requested again.
    func write(_ position: Int64, of index: Int) {
        withUnsafeBytes(of: position) { bytes in
            _ = pwrite(descriptor, bytes.baseAddress, bytes.count, off_t(8 * (index + 1)))
        }
    }

    /// The positions in a file's contents; `nil` if they don't belong to the record, or are damaged.
    static func positions(in data: Data, of record: PartRecord) -> [Int64]? {
        guard let segments = record.segments, data.count == 8 * (segments.count + 1) else { return nil }
        let words = data.withUnsafeBytes { bytes in
            (0...segments.count).map { bytes.loadUnaligned(fromByteOffset: 8 * $0, as: UInt64.self) }
        }
        guard words[0] == record.positions else { return nil }
        let positions = words.dropFirst().map { Int64(bitPattern: $0) }
        let isPlausible = zip(positions, segments).allSatisfy { ($1.start...$1.end).contains($0) }
        return isPlausible ? positions : nil
    }
}
