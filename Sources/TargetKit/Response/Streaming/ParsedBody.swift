// SPDX-License-Identifier: MIT
import Foundation

/// Makes elements of bytes that come in pieces: lines, events, values.
protocol PieceParser: Sendable {
    associatedtype Element

    /// Takes the next piece, once ``next()`` has no more elements of the last one.
    mutating func append(_ piece: Data)

    /// The next whole element; `nil` when it takes another piece.
    mutating func next() throws -> Element?

    /// There are no more pieces: what is left may be an element.
    mutating func finish() throws -> Element?

    /// Lets go of everything: there are no more elements.
    mutating func close()
}

/// The elements of a body, read piece by piece up to its end or the first failure; then it lets go of the body.
struct ParsedBody<Parser: PieceParser>: Sendable {
    private let response: Response
    private var body: ResponseBody?
    private(set) var parser: Parser

    init(_ body: ResponseBody, of response: Response, by parser: Parser) {
        self.response = response
        self.body = body
        self.parser = parser
    }

    /// The next element; `nil` at the end and ever after. It runs on the caller's actor, so that only a piece that has yet to
    /// come costs a change of threads.
    mutating func next(isolation actor: isolated (any Actor)?) async throws -> Parser.Element? {
        do {
            while true {
                if let element = try parser.next() { return element }
                guard let piece = try await nextPiece() else { return try parser.finish() }
                parser.append(piece)
            }
        } catch {
            body = nil
            parser.close()
            throw response.streamFailure(error)
        }
    }

    private mutating func nextPiece() async throws -> Data? {
        // Each iterator of a body reads on where the last one stopped.
        var pieces = body?.makeAsyncIterator()
        if let piece = try await pieces?.next() { return piece }
        body = nil
        return nil
    }
}
