// SPDX-License-Identifier: MIT
import Foundation
import TargetKitPlugins
import TargetKitTransfers

/// The bars of transfers, drawn over each other in a terminal; elsewhere only the last state of each.
final class TransferScreen {
    private let isTerminal = isatty(STDOUT_FILENO) == 1
    private var lineCount = 0
    private var lastDrawing: ContinuousClock.Instant?

    /// Draws the bars, at most ten times a second.
    func show(_ transfers: [Transfer<FileTransfer>]) {
        if let lastDrawing, lastDrawing.duration(to: .now) < .milliseconds(100) { return }
        lastDrawing = .now
        if isTerminal { draw(transfers) }
    }

    func end(_ transfers: [Transfer<FileTransfer>]) { draw(transfers) }

    private func draw(_ transfers: [Transfer<FileTransfer>]) {
        var text = isTerminal && lineCount > 0 ? "\u{1B}[\(lineCount)A" : ""
        for transfer in transfers { text += (isTerminal ? "\u{1B}[2K" : "") + "\(TransferBar(transfer: transfer))\n" }
        lineCount = transfers.count
        try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
    }
}
