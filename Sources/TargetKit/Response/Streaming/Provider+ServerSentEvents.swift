// SPDX-License-Identifier: MIT

extension Provider {
    /// The events of a target that answers with an event stream (HTML standard §9.2).
    ///
    /// The stream is opened when the first event is asked for, with `Accept: text/event-stream`. Status 204 ends the
    /// sequence, another one than 200 is an error of stage `.status`, and another `Content-Type` one of stage
    /// `.decoding`; after these it is not opened again.
    ///
    /// A server that is silent for longer than the transport allows (60 seconds unless told) counts as lost: have it
    /// send comments. The target's timeout covers the whole stream.
    ///
    /// - Parameters:
    ///   - target: The call.
    ///   - reconnection: Whether the stream is opened again when it ends or breaks off, with `Last-Event-ID` when the
    ///     server has given one; default: never. The wait is measured by the provider's clock.
    ///   - lastEventID: Where an earlier run of the app has stopped; default `nil`: nowhere.
    ///   - limit: How many bytes a line, and an event's data, may have; default 8 MiB.
    ///   - options: Override the target's and the provider's options; default: none.
    public func serverSentEvents(
        for target: Target,
        reconnecting reconnection: ServerSentEventReconnection = .never,
        lastEventID: String? = nil,
        limit: Int = 8 << 20,
        options: CallOptions = CallOptions()
    ) -> ServerSentEventSource {
        ServerSentEventSource(
            target: target.innermost,
            reconnection: reconnection,
            lastEventID: lastEventID,
            limit: limit,
            pause: { try await self.pause(for: $0, before: target, options) },
            open: { try await self.stream(target, options: options.adding($0)) }
        )
    }

    /// Waits as a call that is in flight, so that scope, provider and task cancel the wait too. A scope that is shut
    /// down does not let it wait: it is the next call that says so.
    private func pause(for time: Duration, before target: Target, _ options: CallOptions) async throws {
        let call = begin(target, options: options)
        guard call.isAccepted else { return }
        let task = Task { try await configuration.clock.wait(for: time) }
        call.handle.attach(task)
        defer { scope.remove(call.context.id) }
        try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            call.handle.cancel()
        }
    }
}

extension Provider where Target == MultiTarget {
    /// The events of any target that answers with an event stream (HTML standard §9.2).
    ///
    /// - Parameters:
    ///   - target: The call.
    ///   - reconnection: Whether the stream is opened again when it ends or breaks off; default: never.
    ///   - lastEventID: Where an earlier run of the app has stopped; default `nil`: nowhere.
    ///   - limit: How many bytes a line, and an event's data, may have; default 8 MiB.
    ///   - options: Override the target's and the provider's options; default: none.
    public func serverSentEvents(
        for target: some TargetType,
        reconnecting reconnection: ServerSentEventReconnection = .never,
        lastEventID: String? = nil,
        limit: Int = 8 << 20,
        options: CallOptions = CallOptions()
    ) -> ServerSentEventSource {
        serverSentEvents(
            for: MultiTarget(target),
            reconnecting: reconnection,
            lastEventID: lastEventID,
            limit: limit,
            options: options
        )
    }
}

extension CallOptions {
    /// These options with more header fields.
    fileprivate func adding(_ headers: HTTPHeaders) -> CallOptions {
        overridden(by: .setting(\.headers, headers))
    }
}
