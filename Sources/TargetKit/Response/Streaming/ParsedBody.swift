// SPDX-License-Identifier: MIT

extension ResponseStream {
    /// The lines, events or JSON values of a stream's body as they arrive, or the events of
    /// ``Provider/events(for:options:)``.
    ///
    /// The body of a stream can be read only once, so an iterator doesn't see elements that another iterator read.
    public struct Elements<Element: Sendable>: AsyncSequence, Sendable {
        private let start: @Sendable () -> Iterator

        /// Creates a sequence whose elements are read by a new reader for each iterator.
        package init(reader: @escaping @Sendable () -> any ElementReader<Element>) {
            start = { Iterator(reader: reader()) }
        }

        /// Starts reading the elements.
        public func makeAsyncIterator() -> Iterator {
            start()
        }

        /// Reads ``ResponseStream/Elements``.
        public struct Iterator: AsyncIteratorProtocol, RedactedDescription {
            private var reader: any ElementReader<Element>

            /// The type of the elements. Their values are omitted, because they can contain secrets.
            var redactedDescription: String { "iterator of \(Element.self)" }

            init(reader: any ElementReader<Element>) {
                self.reader = reader
            }

            /// The next element; `nil` at the end and after a failure.
            ///
            /// - Throws: ``TargetKitError``: of stage `.decoding` if an element exceeds the limit or can't be decoded;
            ///   otherwise the failure of the call.
            public mutating func next() async throws -> Element? {
                try await next(isolation: nil)
            }

            /// The next element, read on the caller's actor, so that an available element needs no thread switch.
            public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Element? {
                if let element = try reader.nextOfChunk(on: actor) { return element }
                return try await reader.next(isolation: actor)
            }
        }
    }
}

/// Reads elements that span several bodies, or don't come from a body.
package protocol ElementReader<Element>: Sendable {
    associatedtype Element

    /// The next element of a chunk that arrived, without the cost of an asynchronous function; `nil` if there is none.
    mutating func nextOfChunk(on actor: (any Actor)?) throws -> Element?

    /// The next element; `nil` at the end, and after a failure.
    mutating func next(isolation actor: isolated (any Actor)?) async throws -> Element?
}

extension ElementReader {
    package mutating func nextOfChunk(on actor: (any Actor)?) throws -> Element? { nil }
}

/// Parses the elements of a body that arrives in chunks.
protocol BodyParser<Element>: Sendable {
    associatedtype Element

    /// Adds the next chunk, after ``next()`` returned all elements of the previous chunk.
    mutating func append(_ piece: Data)

    /// The next complete element; `nil` if it needs another chunk.
    mutating func next() throws -> Element?

    /// The element that the end of the body completes, if there is one.
    mutating func finish() throws -> Element?

    /// Releases all data, because there are no more elements.
    mutating func close()
}

/// Reads the elements of a body up to its end or the first failure, and then releases the body.
package struct ParsedBody<Element>: ElementReader {
    private let response: Response
    private var body: ResponseBody?
    private var parser: any BodyParser<Element>
    private var turn = ActorTurn()
    private var mustYield = false

    init(_ body: ResponseBody, of response: Response, by parser: any BodyParser<Element>) {
        self.response = response
        self.body = body
        self.parser = parser
    }

    /// The next element of the current chunk; `nil` if there is none, or if the turn on the actor is over.
    package mutating func nextOfChunk(on actor: (any Actor)?) throws -> Element? {
        mustYield = turn.isOver(on: actor)
        return mustYield ? nil : try parsed()
    }

    /// The next element; `nil` at the end, and after a failure.
    package mutating func next(isolation actor: isolated (any Actor)?) async throws -> Element? {
        if mustYield || turn.isOver(on: actor) { await Task.yield() }
        mustYield = false
        while true {
            if let element = try parsed() { return element }
            guard let piece = try await nextPiece(isolation: actor) else { return try parsed(atEnd: true) }
            parser.append(piece)
        }
    }

    private mutating func parsed(atEnd: Bool = false) throws -> Element? {
        do {
            return try atEnd ? parser.finish() : parser.next()
        } catch {
            end()
            throw response.streamFailure(error)
        }
    }

    /// Releases the body and all data, because there are no more elements.
    package mutating func end() {
        body = nil
        parser.close()
    }

    private mutating func nextPiece(isolation actor: isolated (any Actor)?) async throws -> Data? {
        // Each iterator of a body continues where the last one stopped.
        var pieces = body?.makeAsyncIterator()
        do {
            if let piece = try await pieces?.next(isolation: actor) { return piece }
        } catch {
            end()
            throw response.streamFailure(error)
        }
        body = nil
        return nil
    }
}
