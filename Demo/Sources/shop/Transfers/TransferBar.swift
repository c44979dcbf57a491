// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins
import TargetKitTransfers

/// A transfer in one line: `tea.iso  [#####.....]  52 %  4.1 MB/s  0:12`.
struct TransferBar {
    let transfer: Transfer<FileTransfer>

    /// The line for a person.
    func text(in language: Language) -> String {
        let name = transfer.target.name.prefix(24)
        return name.padding(toLength: 24, withPad: " ", startingAt: 0) + "  " + status.text(in: language)
    }

    /// The same for a program.
    var fields: [String: JSONValue] {
        var fields = transfer.progress?.fields ?? [:]
        fields["name"] = .string(transfer.target.name)
        switch transfer.state {
        case .waiting: fields["state"] = "waiting"
        case .running: fields["state"] = "running"
        case .paused: fields["state"] = "paused"
        case .cancelled: fields["state"] = "cancelled"
        case .failed(let error):
            fields["state"] = "failed"
            fields["kind"] = .string("\(error.kind)")
            fields["text"] = .string(error.description)
        case .finished(let response):
            fields["state"] = "finished"
            fields["file"] = response.file.map { .string($0.path) }
        }
        return fields
    }

    private var status: Phrase {
        switch transfer.state {
        case .waiting: return Phrase("waiting", "等待中")
        case .paused: return Phrase("paused", "已暂停")
        case .cancelled: return Phrase("cancelled", "已取消")
        case .failed(let error): return Phrase("failed: \(error)", "失败：\(error)")
        case .finished(let response):
            guard let file = response.file else { return Phrase("finished", "已完成") }
            return Phrase("finished: \(file.path)", "已完成：\(file.path)")
        case .running:
            guard let progress = transfer.progress else { return Phrase("begins", "开始") }
            return Phrase(same: ProgressLine(progress: progress).description)
        }
    }
}
