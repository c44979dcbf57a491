// SPDX-License-Identifier: MIT
import TargetKit

extension CassetteTransport {
    /// The result of converting an archive to a cassette.
    public struct Conversion: Sendable, Hashable {
        /// The entries of the cassette, in order.
        public let entries: [CassetteEntry]
        /// The entries of the archive that aren't in the cassette or aren't complete, a line with the reason each.
        public let remarks: [String]
    }

    /// Writes the entries of an HTTP Archive (HAR 1.2) to a folder as a cassette, with secrets redacted.
    ///
    /// Entries that can't be read, entries without a response, and entries whose response body the archive doesn't
    /// contain, are omitted.
    ///
    /// - Parameters:
    ///   - file: The archive of a browser, a proxy or a `HARFile`.
    ///   - folder: The folder, which must have no cassette. It is created if it doesn't exist.
    ///   - redaction: The secrets to redact; default: `Redaction()`.
    ///   - isIncluded: Whether to write an entry; default: all. Its name is `007-GET-products` for the archive's seventh
    ///     entry.
    /// - Returns: The written entries, and remarks about the others.
    /// - Throws: An error that describes the file that can't be read or written.
    public static func convert(
        har file: URL,
        to folder: URL,
        redaction: Redaction = Redaction(),
        including isIncluded: (CassetteEntry) -> Bool = { _ in true }
    ) throws -> Conversion {
        let target = CassetteFolder(url: folder)
        if let name = try target.fileNames().first(where: { CassetteFolder.number(ofDocument: $0) != nil }) {
            throw CassetteError("\(folder.path) has a cassette, for example \(name); use an empty folder")
        }
        let source = HARSource(url: file, redaction: redaction)
        let turns = RecordingTurns()
        var entries: [CassetteEntry] = []
        var remarks: [String] = []
        for item in try source.items() {
            if let problem = item.problem { remarks.append("\(problem), so it was omitted".inOneLine) }
            guard item.problem == nil, isIncluded(item.entry) else { continue }
            do {
                var outcome = RecordedOutcome(response: try item.exchange?.response())
                guard outcome.response != nil else {
                    remarks.append("\(item.line) was omitted: it was blocked, cancelled, or failed")
                    continue
                }
                outcome.response?.redact(by: redaction)
                let request = try source.request(of: item, withBody: true)
                let turn = turns.begin()
                defer { turn.end() }
                let written = try target.write(request, outcome: outcome, replacing: nil, turn: turn)
                entries.append(written.entry)
                if item.exchange?.isRequestBodyKnown == false {
                    remarks.append("\(item.line) has no request body, because the archive doesn't contain it")
                }
            } catch let problem as HARExchange.Problem {
                remarks.append("\(item.line) was omitted: \(problem.text)")
            }
        }
        return Conversion(entries: entries, remarks: remarks)
    }
}

extension CassetteItem {
    /// The name and the request, on one line.
    fileprivate var line: String { "\(name) (\(document.method) \(document.url))".inOneLine }
}
