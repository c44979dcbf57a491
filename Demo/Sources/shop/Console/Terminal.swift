// SPDX-License-Identifier: MIT
import Foundation

/// What standard output is connected to.
struct Terminal: Sendable {
    /// Whether a person looks at it, so that lines can be drawn again.
    var isInteractive = false
    /// Whether it shows colours.
    var hasColour = false
    /// The number of columns; `nil` for a file or a pipe, whose lines are not broken.
    var columns: Int?

    /// A file or a pipe.
    static let none = Terminal()

    /// The standard output of this process. `NO_COLOR` (no-color.org), if it isn't empty, and `TERM=dumb` turn off
    /// colours.
    static func standardOutput(_ variables: [String: String] = ProcessInfo.processInfo.environment) -> Terminal {
        guard isatty(STDOUT_FILENO) == 1 else { return .none }
        return Terminal(isInteractive: true, columns: size()).coloured(by: variables)
    }

    /// The terminal with or without colours, by the environment.
    func coloured(by variables: [String: String]) -> Terminal {
        var terminal = self
        let refuses = variables["NO_COLOR"].map { !$0.isEmpty } ?? false
        terminal.hasColour = isInteractive && !refuses && variables["TERM"] != "dumb"
        return terminal
    }

    private static func size() -> Int {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col >= 20 else { return 80 }
        return Int(size.ws_col)
    }
}

/// The colours of ECMA-48.
enum Colour: String {
    case bold = "1"
    case faint = "2"
    case red = "31"
    case green = "32"
    case yellow = "33"
    case cyan = "36"

    func around(_ text: String) -> String { "\u{1B}[\(rawValue)m\(text)\u{1B}[0m" }
}
