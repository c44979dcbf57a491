// SPDX-License-Identifier: MIT
import Foundation
import ShopAPI
import TargetKit
import TargetKitJSON
import Testing

@testable import shop

/// The output on a terminal, in a pipe and for programs.
@Suite("Console")
struct ConsoleTests {
    private let written = Guarded("")

    private func console(_ format: Console.Format, _ language: Language = .english) -> Console {
        Console(format, language: language) { [written] text in written.withLock { $0 += text } }
    }

    private static let colourful = Terminal(isInteractive: true, hasColour: true, columns: 80)

    @Test("A log is coloured on a terminal and plain in a pipe")
    func colours() {
        console(.text(Self.colourful)).log("[1.0] ← 200 Catalog.products, 12 bytes")
        console(.text(.none)).log("[1.0] ← 200 Catalog.products, 12 bytes")
        let lines = written.value.split(separator: "\n")
        #expect(lines.first == "\u{1B}[32m          │ [1.0] ← 200 Catalog.products, 12 bytes\u{1B}[0m")
        #expect(lines.last == "          │ [1.0] ← 200 Catalog.products, 12 bytes")
    }

    @Test(
        "NO_COLOR and a dumb terminal turn off colours",
        arguments: [(["NO_COLOR": "1"], false), (["NO_COLOR": ""], true), (["TERM": "dumb"], false), ([:], true)]
    )
    func noColour(variables: [String: String], isColoured: Bool) {
        let terminal = Terminal(isInteractive: true, columns: 80).coloured(by: variables)
        #expect(terminal.hasColour == isColoured)
        #expect(!Terminal.none.coloured(by: variables).hasColour)
    }

    @Test("No line is wider than the terminal", arguments: [40, 80, 120], Language.allCases)
    func wrapping(columns: Int, language: Language) {
        let terminal = Terminal(isInteractive: true, columns: columns)
        let console = console(.text(terminal), language)
        let words = Array(repeating: "tea & 茶", count: 40).joined(separator: " ")
        console.step(Phrase(same: "Wrap"), asks: Phrase(same: words))
        console.log("→ GET https://shop.example/" + String(repeating: "x", count: 300))
        let lines = written.value.split(separator: "\n")
        #expect(lines.allSatisfy { LineBreaking.width(of: $0) <= columns })
        #expect(lines.count > 4)
    }

    @Test("With --json, each line is an object")
    func json() throws {
        let console = console(.json, .simplifiedChinese)
        console.step(Phrase("List", "列表"), asks: Phrase(same: "GET /products"))
        console.space()
        console.log("a \"line\"\nand another")
        console.failed(TargetKitError(stage: .transport, underlying: URLError(.timedOut)))
        let lines = try written.value.split(separator: "\n").map { try JSONValue(parsing: Data($0.utf8)) }
        #expect(lines.map { $0["event"].string } == ["step", "log", "failure"])
        #expect(lines[0]["name"].string == "列表" && lines[0]["number"].int == 1)
        #expect(lines[2]["kind"].string == "timedOut")
    }

    @Test("An error has a sentence in each language")
    func languages() {
        let error = TargetKitError(stage: .transport, underlying: URLError(.timedOut))
        console(.text(.none), .english).failed(error)
        console(.text(.none), .simplifiedChinese).failed(error)
        #expect(written.value.contains(error.text(in: .english)))
        #expect(written.value.contains("错误  " + error.text(in: .simplifiedChinese)))
    }

    @Test("The line that shows progress is below the log, and removed at the end")
    func progress() {
        let console = console(.text(Terminal(isInteractive: true, columns: 80)))
        console.progress(TransferProgress(completed: 50, total: 100, direction: .download))
        console.log("a line")
        console.endProgress()
        let clear = "\r\u{1B}[K"
        let bar = "          [############............]  50 %"
        #expect(written.value == clear + bar + clear + "          │ a line\n" + bar + clear)
    }

    @Test("A pipe gets no progress")
    func progressInPipe() {
        let console = console(.text(.none))
        console.progress(TransferProgress(completed: 50, total: 100, direction: .download))
        console.endProgress()
        #expect(written.value.isEmpty)
    }

    @Test("The progress has the rate and the time left")
    func rate() {
        var progress = TransferProgress(completed: 2_000_000, total: 6_000_000, direction: .download)
        progress.bytesPerSecond = 500_000
        #expect(ProgressLine(progress: progress, width: 6).description == "[##....]  33 %  500 KB/s  0:08")
    }
}
