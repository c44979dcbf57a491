// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins
import TargetKitTransfers

/// The bars of transfers, drawn over each other in a terminal; elsewhere only the last state of each. With `--json`, an
/// object for each change.
final class TransferScreen {
    private let console: Console
    private let isTerminal: Bool
    private var lineCount = 0
    private var lastDrawing: ContinuousClock.Instant?
    /// What was last written about each transfer.
    private var records: [UUID: [String: JSONValue]] = [:]

    init(_ console: Console) {
        self.console = console
        isTerminal = !console.isForPrograms && isatty(STDOUT_FILENO) == 1
    }

    /// Shows the transfers, at most ten times a second.
    func show(_ transfers: [Transfer<FileTransfer>]) {
        if let lastDrawing, lastDrawing.duration(to: .now) < .milliseconds(100) { return }
        lastDrawing = .now
        if isTerminal || console.isForPrograms { end(transfers) }
    }

    /// Shows the transfers as they are in the end.
    func end(_ transfers: [Transfer<FileTransfer>]) {
        if console.isForPrograms {
            transfers.forEach(record)
        } else {
            draw(transfers)
        }
    }

    private func record(_ transfer: Transfer<FileTransfer>) {
        let fields = TransferBar(transfer: transfer).fields
        guard records[transfer.id] != fields else { return }
        records[transfer.id] = fields
        console.record("transfer", fields)
    }

    private func draw(_ transfers: [Transfer<FileTransfer>]) {
        var text = isTerminal && lineCount > 0 ? "\u{1B}[\(lineCount)A" : ""
        for transfer in transfers {
            let bar = TransferBar(transfer: transfer).text(in: console.language)
            text += (isTerminal ? "\u{1B}[2K" : "") + bar + "\n"
        }
        lineCount = transfers.count
        console.draw(text)
    }
}
