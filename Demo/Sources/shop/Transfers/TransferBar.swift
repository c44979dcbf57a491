// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins
import TargetKitTransfers

/// A transfer in one line: `tea.iso  [#####.....]  52 %  4.1 MB/s  0:12`.
struct TransferBar: CustomStringConvertible {
    let transfer: Transfer<FileTransfer>

    var description: String {
        let name = transfer.target.name.prefix(24)
        return name.padding(toLength: 24, withPad: " ", startingAt: 0) + "  " + status
    }

    private var status: String {
        switch transfer.state {
        case .waiting: "waiting"
        case .paused: "paused"
        case .cancelled: "cancelled"
        case .failed(let error): "failed: \(error)"
        case .finished(let response): "finished" + (response.file.map { ": \($0.path)" } ?? "")
        case .running: transfer.progress.map { ProgressLine(progress: $0).description } ?? "begins"
        }
    }
}
