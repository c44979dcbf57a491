// SPDX-License-Identifier: MIT
import Foundation
import Synchronization

/// What a person sees: numbered steps, each with what was asked, the log of what happened, and what came back.
final class Console: Sendable {
    private let number = Mutex(0)
    private let isDimmed: Bool

    /// - Parameter isDimmed: whether the log is printed in a fainter colour; default: when the output is a terminal.
    init(isDimmed: Bool = isatty(STDOUT_FILENO) == 1 && ProcessInfo.processInfo.environment["NO_COLOR"] == nil) {
        self.isDimmed = isDimmed
    }

    /// A line as it is.
    func line(_ text: String = "") {
        // One write for each line, so that lines of different threads never mix. Nothing can be done about a closed
        // output.
        try? FileHandle.standardOutput.write(contentsOf: Data((text + "\n").utf8))
    }

    /// The next step, and what it asks.
    func step(_ name: String, asks: String) {
        let number = number.withLock { number in
            number += 1
            return number
        }
        line()
        line(String(format: "%2d  ", number) + name)
        line("    asks  " + asks)
    }

    /// What came back.
    func got(_ text: String) {
        line("    got   " + text)
    }

    /// More of what came back.
    func also(_ text: String) {
        line("          " + text)
    }

    /// What the plugins have to say, which may be several lines.
    func log(_ text: String) {
        for part in text.split(separator: "\n", omittingEmptySubsequences: true) {
            let text = "          │ " + part
            line(isDimmed ? "\u{1B}[2m\(text)\u{1B}[0m" : text)
        }
    }
}
