// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins
import TargetKitTransfers

/// A transfer in one line: `tea.iso  [#####.....]  52 %  4.1 MB/s  0:12`.
struct TransferBar: CustomStringConvertible {
    private static let width = 24

    let transfer: Transfer<FileTransfer>

    var description: String {
        let name = transfer.target.name.prefix(24)
        return name.padding(toLength: 24, withPad: " ", startingAt: 0) + "  " + status
    }

    private var status: String {
        switch transfer.state {
        case .waiting: "waits"
        case .paused: "is paused"
        case .cancelled: "was cancelled"
        case .failed(let error): "failed: \(error)"
        case .finished(let response): "is there" + (response.file.map { ": \($0.path)" } ?? "")
        case .running: transfer.progress.map(Self.bar) ?? "begins"
        }
    }

    private static func bar(_ progress: TransferProgress) -> String {
        guard let fraction = progress.fraction else { return bytes(Double(progress.completed)) }
        let filled = Int(fraction * Double(width))
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
        var text = "[\(bar)] \(String(format: "%3.0f", fraction * 100)) %"
        if let rate = progress.bytesPerSecond { text += "  \(bytes(rate))/s" }
        if let time = progress.remainingTime {
            let seconds = Int(time / .seconds(1))
            text += "  \(seconds / 60):" + String(format: "%02d", seconds % 60)
        }
        return text
    }

    private static func bytes(_ count: Double) -> String {
        count < 1_000_000 ? String(format: "%.0f KB", count / 1_000) : String(format: "%.1f MB", count / 1_000_000)
    }
}
