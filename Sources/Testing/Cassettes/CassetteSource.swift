// SPDX-License-Identifier: MIT
import TargetKit

/// The origin of a cassette's entries: a folder, or an HTTP Archive.
protocol CassetteSource: Sendable {
    /// The path, for messages.
    var path: String { get }

    /// Reads all entries, in the order in which identical requests use them.
    ///
    /// - Throws: A ``CassetteError`` that describes the file and the error.
    func items() throws -> [CassetteItem]

    /// The recorded request of an entry, with its body if it is needed.
    func request(of item: CassetteItem, withBody: Bool) throws -> RedactedRequest

    /// The recorded result of an entry, with its body.
    func outcome(of item: CassetteItem) throws -> RecordedOutcome

    /// A request in the form in which the recorded ones are compared.
    func comparable(_ request: RedactedRequest) -> RedactedRequest
}

extension CassetteSource {
    func comparable(_ request: RedactedRequest) -> RedactedRequest { request }
}

/// A recorded call without its bodies, and its name.
struct CassetteItem: Sendable {
    let name: String
    let document: CassetteDocument
    /// The entry of the archive; `nil` in a folder.
    var exchange: HARExchange?
    /// Why an entry of an archive can't be read; `nil` if its method and URL are known.
    var problem: CassetteError?

    /// Whether there is a result to replay. Archives also contain requests that were blocked or cancelled.
    var isReplayable: Bool { exchange?.isReplayable ?? (document.response != nil || document.failure != nil) }
}

/// A cassette that can't be found. Each call fails with the reason.
struct UnavailableCassette: CassetteSource {
    let path = ""
    let reason: CassetteError

    func items() throws -> [CassetteItem] { throw reason }
    func request(of item: CassetteItem, withBody: Bool) throws -> RedactedRequest { throw reason }
    func outcome(of item: CassetteItem) throws -> RecordedOutcome { throw reason }
}
