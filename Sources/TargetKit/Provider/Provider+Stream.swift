// SPDX-License-Identifier: MIT

extension Provider {
    /// Makes a call and returns when the head of its response arrives. The body arrives as it is read.
    ///
    /// Plugins and validation run before the body arrives. The call ends when the body ends; until then, its scope
    /// counts it, can cancel it, and waits for it. Cancelling the reading task, or releasing the stream before its end,
    /// cancels the call. A slow reader applies backpressure to the server.
    ///
    /// ```swift
    /// let stream = try await provider.stream(.log(day: today))
    /// for try await line in stream.lines { print(line) }
    /// ```
    ///
    /// - Parameters:
    ///   - target: The call. A task that downloads to a file can't be streamed.
    ///   - options: Override the target's and the provider's options; default: none. The timeout of the whole call
    ///     covers the body.
    /// - Throws: ``TargetKitError``. If the status isn't accepted, its response has the beginning of a JSON body, which states
    ///   the reason, unless the server holds it back. A failure within the body is thrown by the stream's iterator.
    public func stream(
        _ target: Target,
        options: CallOptions = CallOptions()
    ) async throws(TargetKitError) -> ResponseStream {
        let call = begin(target, options: options, kind: .stream)
        // The next chunk is requested when the reader consumes the previous one, unless the transport fills the channel.
        let channel = BodyChannel(limit: 1, receiveLimit: Call.streamBuffer)
        let head = await withTaskCancellationHandler {
            await withUnsafeContinuation { head in
                call.startTask(isImmediate: false) {
                    await self.relay(call, target: target, to: channel, head: head)
                }
            }
        } onCancel: {
            call.handle.cancel()
        }
        let response = try head.get()
        let cancel = { @Sendable [handle = call.handle] in
            // Cancels first, so that the call's task can distinguish a missing reader from the end of the body.
            handle.cancel()
            channel.abandon()
        }
        let body = ResponseBody(from: channel, resume: channel.resumeSender, cancel: cancel)
        return ResponseStream(response: response, body: body)
    }

    /// Passes on the head, then the body's chunks as they are read. This runs in the call's task, so a stream is
    /// cancelled, counted and timed like any other call.
    private func relay(
        _ call: Call,
        target: Target,
        to channel: BodyChannel,
        head: UnsafeContinuation<Result<Response, TargetKitError>, Never>
    ) async {
        let timeout = call.startTimer()
        defer { timeout?.cancel() }
        let result = await call.run { try makeEndpoint(of: target, for: call) }
        guard case .success(let response) = result else {
            end(call, result: result, streamedByteCount: 0) { head.resume(returning: result) }
            return
        }
        head.resume(returning: .success(response.head))
        var failure: TargetKitError?
        do {
            if try await !drain(response, of: call, into: channel) { try await copy(response, of: call, to: channel) }
            try call.checkInterruption()
        } catch {
            failure = call.mapped(bodyFailure: error, of: response)
        }
        end(
            call,
            result: failure.map(Result.failure) ?? .success(response.head),
            streamedByteCount: channel.readByteCount
        ) {
            channel.finish(failure.map(Result.failure) ?? .success(()))
        }
    }

    /// Lets the transport fill the channel; returns `false` immediately if it can't. A ``CallCountingClock`` must know
    /// whether the call waits for the reader.
    private func drain(_ response: Response, of call: Call, into channel: BodyChannel) async throws -> Bool {
        guard let body = response.body, configuration.countingClock == nil else { return false }
        var failure: (any Error)?
        do {
            let isDrained = try await withTaskCancellationHandler {
                try await body.drain(into: channel)
            } onCancel: {
                channel.discard()
            }
            guard isDrained else { return false }
        } catch {
            failure = error
        }
        guard await channel.waitUntilRead() else { throw CancellationError() }
        if let failure { throw failure }
        return true
    }

    private func copy(_ response: Response, of call: Call, to channel: BodyChannel) async throws {
        // A plugin may have supplied the response, with its body in memory.
        for try await piece in response.body ?? ResponseBody(response.data) {
            guard await call.waiting({ await channel.write(piece) }) else { throw CancellationError() }
        }
    }
}

extension Provider {
    /// Waits before the next call of a stream that reconnects. The wait is counted like a call in flight, so that the
    /// scope, the provider and the task can cancel it. If the scope is shut down, it returns immediately, and the next
    /// call fails.
    package func pause(for time: Duration, before target: Target, options: CallOptions) async throws {
        let call = begin(target, options: options)
        defer {
            scope.remove(call.context.id)
            configuration.countingClock?.end(call.context.id)
        }
        guard call.handle.interruption != .shutDown else { return }
        let task = Task { try await configuration.clock.wait(for: time) }
        call.handle.attach(task)
        try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            call.handle.cancel()
        }
    }
}

extension Call {
    /// The number of bytes of a stream that wait for the reader, at most about: 256 KiB.
    static let streamBuffer = 256 << 10

    /// The failure of a stream's body, mapped by the target.
    fileprivate func mapped(bodyFailure error: any Error, of response: Response) -> TargetKitError {
        var failure = failure(error, at: .transport, request: response.request)
        failure.response = response.head
        if case .failure(let mapped) = mapped(.failure(failure)) { return mapped }
        return failure
    }
}
