// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitJSON

/// The entries of an HTTP Archive (HAR 1.2) of a browser, a proxy or a `HARFile`. They are only replayed.
struct HARSource: CassetteSource {
    let url: URL
    let redaction: Redaction

    var path: String { url.path }

    func items() throws -> [CassetteItem] {
        let json = try parsed()
        guard let entries = json[path: "log.entries"].array else {
            throw CassetteError(
                "\(path) isn't an HTTP Archive, because it has no array log.entries; save the traffic as HAR 1.2"
            )
        }
        let isOwn = json[path: "log.creator.name"].string == "TargetKit"
        return Self.sorted(entries).map { item($1, number: $0 + 1, isOwn: isOwn) }
    }

    private func item(_ entry: JSONValue, number: Int, isOwn: Bool) -> CassetteItem {
        do {
            let exchange = try HARExchange(entry, isOwn: isOwn, redaction: redaction)
            let name = CassetteFolder.name(number: number, of: exchange.request)
            return CassetteItem(name: name, document: exchange.document, exchange: exchange)
        } catch {
            return CassetteItem(
                name: "",
                document: CassetteDocument(method: "", url: "", requestHeaders: HTTPHeaders()),
                problem: failure(error, number: number, entry["request"])
            )
        }
    }

    func request(of item: CassetteItem, withBody: Bool) throws -> RedactedRequest {
        item.exchange?.request ?? item.document.request
    }

    func outcome(of item: CassetteItem) throws -> RecordedOutcome {
        do {
            return RecordedOutcome(response: try item.exchange?.response())
        } catch {
            let request: JSONValue = ["method": .string(item.document.method), "url": .string(item.document.url)]
            throw failure(error, number: CassetteFolder.number(ofDocument: item.name + ".json") ?? 0, request)
        }
    }

    func comparable(_ request: RedactedRequest) -> RedactedRequest { request.withComparableURL }

    private func parsed() throws -> JSONValue {
        let data: Data
        do {
            data = try Data(contentsOf: url)
        } catch {
            let isThere = FileManager.default.fileExists(atPath: path)
            throw CassetteError("\(path) \(isThere ? "can't be read: \(error.localizedDescription)" : "doesn't exist")")
        }
        do {
            return try JSONValue(parsing: data)
        } catch {
            if let json = try? JSONValue(parsing: Self.withoutUnpairedSurrogates(data)) { return json }
            throw CassetteError("\(path) isn't valid JSON: \(error); save the archive again")
        }
    }

    /// The entries with their positions, by the time of their requests. Proxies and `HARFile` write an entry when its
    /// response has arrived.
    private static func sorted(_ entries: [JSONValue]) -> [(index: Int, entry: JSONValue)] {
        let numbered = entries.enumerated().map { (index: $0.offset, entry: $0.element) }
        let dates = entries.compactMap { $0["startedDateTime"].lenient.date }
        guard dates.count == entries.count else { return numbered }
        return numbered.sorted { (dates[$0.index], $0.index) < (dates[$1.index], $1.index) }
    }

    /// The error for an entry, with its number and request.
    private func failure(_ problem: HARExchange.Problem, number: Int, _ request: JSONValue) -> CassetteError {
        let parts = [request["method"].string, request["url"].string.map { redaction.url($0) }].compactMap { $0 }
        let line = parts.isEmpty ? "" : " (\(parts.joined(separator: " ").excerpt(200).inOneLine))"
        return CassetteError("\(path): entry \(number)\(line): \(problem.text)")
    }

    /// Replaces escaped halves of characters, which browsers write for strings of JavaScript, and JSON doesn't allow
    /// (RFC 8259 §8.2).
    static func withoutUnpairedSurrogates(_ data: Data) -> Data {
        var bytes = [UInt8](data)
        let replacement = Array("FFFD".utf8)
        var index = 0
        func unit(at index: Int) -> UInt16? {
            guard index + 6 <= bytes.count, bytes[index] == UInt8(ascii: "\\"), bytes[index + 1] == UInt8(ascii: "u")
            else { return nil }
            return UInt16(String(decoding: bytes[(index + 2)..<(index + 6)], as: UTF8.self), radix: 16)
        }
        while index < bytes.count {
            guard bytes[index] == UInt8(ascii: "\\") else {
                index += 1
                continue
            }
            guard let first = unit(at: index), (0xD800...0xDFFF).contains(first) else {
                index += 2
                continue
            }
            if first < 0xDC00, let second = unit(at: index + 6), (0xDC00...0xDFFF).contains(second) {
                index += 12
            } else {
                bytes.replaceSubrange((index + 2)..<(index + 6), with: replacement)
                index += 6
            }
        }
        return Data(bytes)
    }
}

extension RedactedRequest {
    /// The request with the URL as browsers and proxies write it: without a fragment and a default port, with a path.
    fileprivate var withComparableURL: RedactedRequest {
        var request = self
        request.url = HARExchange.comparable(url)
        return request
    }
}
