// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// The progress of a transfer in one line: `[#####.....]  52 %  4.1 MB/s  0:12`.
struct ProgressLine: CustomStringConvertible {
    let progress: TransferProgress
    /// The number of characters of the bar.
    var width = 24

    var description: String {
        guard let fraction = progress.fraction else { return Self.bytes(Double(progress.completed)) + rate }
        let filled = Int(min(1, max(0, fraction)) * Double(width))
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
        return "[\(bar)] \(String(format: "%3.0f", fraction * 100)) %" + rate + time
    }

    private var rate: String {
        progress.bytesPerSecond.map { "  \(Self.bytes($0))/s" } ?? ""
    }

    private var time: String {
        guard let time = progress.remainingTime else { return "" }
        let seconds = Int(min(time / .seconds(1), 359_999).rounded(.up))
        return "  \(seconds / 60):" + String(format: "%02d", seconds % 60)
    }

    static func bytes(_ count: Double) -> String {
        count < 1_000_000 ? String(format: "%.0f KB", count / 1_000) : String(format: "%.1f MB", count / 1_000_000)
    }
}
