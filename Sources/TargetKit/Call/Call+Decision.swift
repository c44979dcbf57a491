// SPDX-License-Identifier: MIT

/// The failure that a server reports with an accepted status, instead of a file or a stream.
extension Call {
    /// Whether the body of a response may report a failure: JSON of at most 1 MiB, for a call with an envelope or a
    /// plugin that knows the codes of bodies.
    ///
    /// - Parameter byteCount: The size of the body; `nil` if it isn't known yet.
    private func mayReportFailure(_ head: ResponseHead, byteCount: Int64?) -> Bool {
        guard context.options.envelope != nil || plugins.hasRejectsCredential,
            byteCount ?? 0 <= Int64(ResponseBody.excerptSize)
        else { return false }
        return head.isJSON
    }

    /// The failure that a complete body reports although the target accepts the status; `nil` if it is the content. A
    /// part of a representation never reports a failure.
    ///
    /// - Parameter body: Reads the body. Called only if it may report a failure.
    func reportedFailure(in result: ExchangeResult, byteCount: Int64, body: () -> Data) -> TargetKitError? {
        let head = result.response.head
        guard head.statusCode != 206, mayReportFailure(head, byteCount: byteCount) else { return nil }
        return reportedFailure(in: result, body: body())
    }

    private func reportedFailure(in result: ExchangeResult, body: Data) -> TargetKitError? {
        var reported = result.response
        reported.body = .data(body)
        let (target, options) = (context.target, context.options)
        guard
            let response = try? Response(
                reported,
                to: result.request,
                after: result.redirects,
                of: target,
                decoder: options.decoder
            )
        else { return nil }
        var failure = TargetKitError(stage: .envelope, target: target, request: result.request, response: response)
        do {
            _ = try options.envelope?.payload(of: response)
        } catch let refusal as ServerDefinedError {
            failure.underlying = refusal
            return failure
        } catch {
            // The body isn't an envelope.
        }
        guard (200...299).contains(response.statusCode),
            plugins.rejectsCredential(response, context: context.ofLastAttempt)
        else {
            return nil
        }
        failure.underlying = CredentialError.rejected
        return failure
    }

    /// Returns a body that isn't a failure that the server reports, with the bytes that were read to find that out.
    ///
    /// - Parameter requiresLength: Whether only a body whose length is known may be a failure, so that a stream without
    ///   a length isn't delayed.
    func checked(
        _ body: ResponseBody,
        of result: ExchangeResult,
        requiresLength: Bool = false
    ) async throws -> ResponseBody {
        let head = result.response.head
        let length = head.headers.contentLength
        guard head.statusCode != 206, length != nil || !requiresLength, mayReportFailure(head, byteCount: length) else {
            return body
        }
        let arrived = Locked(Data())
        let isWhole = try await body.read(upTo: ResponseBody.excerptSize, into: arrived)
        let start = arrived.withLock(\.self)
        if isWhole, let failure = reportedFailure(in: result, body: start) { throw failure }
        return ResponseBody(start, then: isWhole ? nil : body)
    }

    /// Checks the response of a stream before its body is read. A part that wasn't requested is a failure, as for a
    /// download. The beginning of a JSON body whose status isn't accepted is read into memory, because it states the
    /// reason: for an envelope until it ends, otherwise for a second. The part that has arrived by then, or before the
    /// body failed, is the body.
    func checkedStream(_ result: ExchangeResult) async throws -> ExchangeResult {
        var checked = result
        let head = result.response.head
        let isEventStream = result.request.value(forHTTPHeaderField: "Accept")?.mediaType == "text/event-stream"
        let isAccepted = (result.validation ?? context.target.validation).accepts(head.statusCode)
        if isAccepted, (200...299).contains(head.statusCode) { try result.checkRange() }
        switch result.response.body {
        case .stream(let body) where isAccepted:
            let body = try await self.checked(body, of: result, requiresLength: !isEventStream)
            checked.response.body = .stream(body)
        case .stream(let body):
            let length = head.headers.contentLength
            let isAwaited = (length != nil || isEventStream) && mayReportFailure(head, byteCount: length)
            guard isAwaited || head.isJSON && length ?? 0 <= Int64(ResponseBody.excerptSize) else { return result }
            // The call can fail without the reason, so it doesn't wait for a server that holds it back.
            let limit = isAwaited ? nil : Deadline(in: .seconds(1), by: .continuous, on: ContinuousClock())
            let arrived = Locked(Data())
            _ = try? await within(limit) { try await body.read(upTo: ResponseBody.excerptSize, into: arrived) }
            checked.response.body = .data(arrived.withLock(\.self))
        case .data(let data) where isAccepted:
            if let failure = reportedFailure(in: result, byteCount: Int64(data.count), body: { data }) { throw failure }
        case .data, .file, .upgraded: break
        }
        return checked
    }
}

extension CallExchanges {
    /// Returns a body that isn't a failure that the server reports instead of the requested content, for a driver that
    /// stores bodies.
    ///
    /// A JSON body of at most 1 MiB is read into memory and checked, unless the status is 206: it may be the failure of
    /// the call's envelope, or a plugin may find in it that the credential was rejected
    /// (``Plugin/rejectsCredential(_:context:)``). Any other body is returned unchanged.
    ///
    /// - Parameters:
    ///   - body: The body, as a stream.
    ///   - result: The response, whose status is accepted.
    /// - Throws: ``TargetKitError`` of stage `.envelope`, with the body in its response; or the error of the transport.
    public func checked(_ body: ResponseBody, of result: ExchangeResult) async throws -> ResponseBody {
        try await call.checked(body, of: result)
    }
}

extension ResponseHead {
    fileprivate var isJSON: Bool {
        guard let type = headers[.contentType]?.mediaType else { return false }
        return type == "application/json" || type == "text/json" || type.hasSuffix("+json")
    }
}

extension ResponseBody {
    /// Appends the first bytes of the body as they arrive, and returns whether they are the whole body.
    fileprivate func read(upTo limit: Int, into data: Locked<Data>) async throws -> Bool {
        for try await piece in self {
            let count = data.withLock { data in
                data.append(piece)
                return data.count
            }
            if count > limit { return false }
        }
        return true
    }

    /// Creates a body that begins with bytes in memory.
    init(_ start: Data, then rest: ResponseBody? = nil) {
        let unread = Locked<Data?>(start)
        self.init {
            let start = unread.withLock { unread in
                defer { unread = nil }
                return unread
            }
            if let start, !start.isEmpty { return start }
            guard let rest else { return nil }
            var pieces = rest.makeAsyncIterator()
            return try await pieces.next()
        }
    }
}

extension Call {
    /// Reports to the plugin that provided the response whether the call accepts it, and returns the caller's result.
    ///
    /// - Parameters:
    ///   - received: The result before the plugins' `process`.
    ///   - processed: The result after it.
    func decided(
        _ received: Result<Response, TargetKitError>,
        after processed: Result<Response, TargetKitError>
    ) -> Result<Response, TargetKitError> {
        guard received.anyResponse?.isUndecided == true || processed.anyResponse?.isUndecided == true else {
            return processed
        }
        // A call that is interrupted doesn't decide.
        if interruption == nil { decide(received, after: processed) }
        return processed.withoutDecision
    }

    private func decide(
        _ received: Result<Response, TargetKitError>,
        after processed: Result<Response, TargetKitError>
    ) {
        let context = context.ofLastAttempt
        let (first, last) = (received.anyResponse, processed.anyResponse)
        let isSame = if let first, let last { first.isDecided(with: last) } else { false }
        if let first, first.isUndecided {
            let isAccepted = processed.isSuccess && (received.isSuccess || isSame)
            first.decide(isAccepted: isAccepted && !plugins.rejectsCredential(first, context: context))
        }
        // A response that a plugin returned instead, for example a stored one.
        if let last, last.isUndecided, !isSame {
            last.decide(isAccepted: processed.isSuccess && !plugins.rejectsCredential(last, context: context))
        }
    }

    /// Whether the call would accept a response that it doesn't receive. Its value isn't decoded.
    func accepts(_ response: TransportResponse, to request: URLRequest) -> Bool {
        let (target, options) = (context.target, context.options)
        guard let response = try? Response(response, to: request, of: target, decoder: options.decoder),
            target.validation.accepts(response.statusCode)
        else { return false }
        do {
            try options.envelope.map { try response.unwrap($0) }
        } catch {
            return false
        }
        return mapped(.success(response)).isSuccess
            && !plugins.rejectsCredential(response, context: context.ofLastAttempt)
    }
}

extension Result<Response, TargetKitError> {
    /// The response, or the response of the failure.
    var anyResponse: Response? {
        switch self {
        case .success(let response): response
        case .failure(let error): error.response
        }
    }

    /// This result without the plugins that wait for the decision about its response.
    fileprivate var withoutDecision: Self {
        switch self {
        case .success(let response): return .success(response.withoutDecision)
        case .failure(var error):
            guard let response = error.response, response.isUndecided else { return self }
            error.response = response.withoutDecision
            return .failure(error)
        }
    }
}
