// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension Provider {
    /// Makes a call and returns with the head of its response; the body comes as it is read.
    ///
    /// Plugins and validation see the head, before the body. The call ends with the body: until then its scope counts it,
    /// cancels it, and waits for it. Cancelling the task that reads cancels the call, and so does whoever lets go of the stream
    /// before its end. A body that nobody reads holds the server back.
    ///
    /// ```swift
    /// let stream = try await provider.stream(.log(day: today))
    /// for try await line in stream.lines { print(line) }
    /// ```
    ///
    /// - Parameters:
    ///   - target: The call. A task that downloads into a file cannot be streamed.
    ///   - timeout: Goes before what target and provider say; the time of the whole call covers the body too.
    /// - Throws: ``TargetKitError``. A failure within the body is thrown where it is read.
    public func stream(_ target: Target, timeout: CallTimeout) async throws(TargetKitError) -> ResponseStream {
        try await stream(target, timeout: timeout, adding: [:])
    }

    /// Makes a call and returns with the head of its response; the body comes as it is read.
    ///
    /// - Throws: ``TargetKitError``. A failure within the body is thrown where it is read.
    public func stream(_ target: Target) async throws(TargetKitError) -> ResponseStream {
        try await stream(target, adding: [:])
    }

    /// The same with fields of its own, `Last-Event-ID` for one.
    func stream(
        _ target: Target,
        timeout: CallTimeout = .none,
        adding headers: HTTPHeaders
    ) async throws(TargetKitError) -> ResponseStream {
        let call = begin(target, timeout: timeout, delivery: .stream(buffer: 256 << 10), adding: headers)
        let relay = BodyRelay(call.handle)
        let head = await withTaskCancellationHandler {
            await withUnsafeContinuation { head in
                call.handle.attach(Task { await self.relay(call, target, to: relay, head) })
            }
        } onCancel: {
            call.handle.cancel()
        }
        return ResponseStream(response: try head.get(), body: ResponseBody(from: relay))
    }

    /// Hands over the head, and then the pieces of the body as they are taken. All of it is the call's one task, so a stream is
    /// cancelled, counted and timed like any call.
    private func relay(
        _ call: ProviderCall,
        _ target: Target,
        to relay: BodyRelay,
        _ head: UnsafeContinuation<Result<Response, TargetKitError>, Never>
    ) async {
        let deadline = deadline(of: call)
        defer { deadline?.cancel() }
        let result = call.end(with: await pipeline.perform(call, aim(of: call, target)))
        guard case .success(let response) = result else {
            end(call) { head.resume(returning: result) }
            return
        }
        head.resume(returning: .success(response.head))
        var end = Result<Void, TargetKitError>.success(())
        do {
            try await pump(response, to: relay)
            try call.checkCancellation()
        } catch {
            var failure = call.failure(error, at: .transport, request: response.request)
            failure.response = response.head
            end = .failure(failure)
        }
        self.end(call) { relay.finish(end) }
    }

    private func pump(_ response: Response, to relay: BodyRelay) async throws {
        // A plugin may have answered in the server's place, with a body that is there already.
        guard let body = response.body else {
            if response.data.isEmpty { return }
            guard await relay.write(response.data) else { throw CancellationError() }
            return
        }
        for try await piece in body {
            guard await relay.write(piece) else { throw CancellationError() }
        }
    }
}
