// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

/// Records calls as an HTTP Archive (HAR 1.2) for browsers, proxies and a ``TimelinePage``.
///
/// ```swift
/// let traffic = HARPlugin(file: folder.appending(path: "traffic.har"))
/// let provider = Provider<Orders>(plugins: [traffic])
/// await traffic.flush()
/// try TimelinePage(har: Data(contentsOf: traffic.files[0])).write(to: folder.appending(path: "traffic.html"))
/// ```
///
/// Each attempt, each redirect, and each response of a cache or a stub is an entry, with the transport's timings, the
/// sizes, and the bodies up to a limit. Secrets are redacted by the rules of `Redaction`. Bodies that aren't text are
/// omitted, except images, sound, video, fonts and PDF files. An archive still contains what users read and write, so
/// record one only to diagnose a problem.
///
/// An entry is reported when its attempt ends, before the caller receives the result. The entry of a stream is reported
/// at its head and at its end, without its body. A call that shares an exchange has a separate entry with the source
/// `shared`.
public struct HARPlugin: Plugin {
    let elapsedTime: ElapsedTime
    let now: @Sendable () -> Date
    let redaction: Redaction
    let bodyLimit: Int
    let provider: String?
    let output: @Sendable (HAREntry) -> Void
    private let file: HARFile?
    let attempt = PluginStorage<TrafficAttempt>()
    let scopes = ScopeNumbers()

    /// `PluginPlace.observation`: the request is recorded as it is sent.
    public var place: PluginPlace { .observation }

    /// The hooks that the plugin implements.
    public var hooks: PluginHooks { [.willSend, .exchange, .didReceive, .process, .didFinish] }

    /// Creates a plugin that records into a file.
    ///
    /// - Parameters:
    ///   - file: A file URL, for a ``HARFile`` with the default settings.
    ///   - bodyLimit: The maximum number of recorded bytes of each body; default: 64 KiB. If 0, bodies aren't recorded.
    ///   - redaction: The secrets to redact; default: `Redaction()`.
    ///   - provider: The name of the provider in the archive; default `nil`: the type of the target.
    public init(file: URL, bodyLimit: Int = 65_536, redaction: Redaction = Redaction(), provider: String? = nil) {
        self.init(to: HARFile(file), bodyLimit: bodyLimit, redaction: redaction, provider: provider)
    }

    /// Creates a plugin that records into a file.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - bodyLimit: The maximum number of recorded bytes of each body; default: 64 KiB. If 0, bodies aren't recorded.
    ///   - redaction: The secrets to redact; default: `Redaction()`.
    ///   - provider: The name of the provider in the archive; default `nil`: the type of the target.
    public init(
        to file: HARFile,
        bodyLimit: Int = 65_536,
        redaction: Redaction = Redaction(),
        provider: String? = nil
    ) {
        self.init(
            Settings(redaction: redaction, bodyLimit: bodyLimit, provider: provider, file: file),
            output: file.append
        )
    }

    /// Creates a plugin that reports entries, for example to an open page.
    ///
    /// - Parameters:
    ///   - bodyLimit: The maximum number of encoded bytes of each body; default: 64 KiB. If 0, bodies aren't encoded.
    ///   - redaction: The secrets to redact; default: `Redaction()`.
    ///   - provider: The name of the provider in the entries; default `nil`: the type of the target.
    ///   - output: Receives each entry on any thread, and should return quickly. An entry retains its bodies.
    public init(
        bodyLimit: Int = 65_536,
        redaction: Redaction = Redaction(),
        provider: String? = nil,
        output: @escaping @Sendable (_ entry: HAREntry) -> Void
    ) {
        self.init(Settings(redaction: redaction, bodyLimit: bodyLimit, provider: provider), output: output)
    }

    /// The settings of a plugin.
    package struct Settings: Sendable {
        var redaction = Redaction()
        var bodyLimit = 65_536
        var provider: String?
        var file: HARFile?
        var clock: any Clock<Duration> = ContinuousClock()
        var now: @Sendable () -> Date = { Date() }

        /// Creates settings with the clocks of a test.
        package init(clock: any Clock<Duration>, now: @escaping @Sendable () -> Date) {
            (self.clock, self.now) = (clock, now)
        }

        fileprivate init(redaction: Redaction, bodyLimit: Int, provider: String?, file: HARFile? = nil) {
            (self.redaction, self.bodyLimit, self.provider, self.file) = (redaction, bodyLimit, provider, file)
        }
    }

    package init(_ settings: Settings, output: @escaping @Sendable (HAREntry) -> Void) {
        elapsedTime = ElapsedTime(settings.clock)
        now = settings.now
        redaction = settings.redaction
        bodyLimit = min(max(settings.bodyLimit, 0), 1 << 30)
        provider = settings.provider
        file = settings.file
        self.output = output
    }

    /// The files with the entries, oldest first; empty if the plugin reports to a closure. See ``HARFile/files``.
    public var files: [URL] { file?.files ?? [] }

    /// Waits until all queued entries have been written.
    public func flush() async {
        await file?.flush()
    }
}

// MARK: - The hooks

extension HARPlugin {
    /// Starts an attempt.
    public func willSend(_ request: URLRequest, context: RequestContext) {
        let last = context[attempt].flatMap { $0.call == context.id ? $0 : nil }
        context[attempt] = TrafficAttempt(
            context,
            after: last,
            at: TrafficTime(date: now(), elapsed: elapsedTime.current)
        )
    }

    /// Records an exchange with the server.
    public func exchange(
        _ request: TransportRequest,
        context: RequestContext,
        next: Exchange
    ) async throws -> TransportResponse {
        let attempt = current(of: context)
        let (start, earlier) = attempt.begin(context, at: elapsedTime.current, isSent: true)
        if let earlier { output(earlier) }
        let end = { (response: TransportResponse?, error: (any Error)?) in
            let time = elapsedTime.current
            var entry = entry(start, .network, until: time, content(request.urlRequest, request.body, of: context))
            entry.response = response.map { HARResponse($0) }
            if response?.isSample == true { entry.source = .stub }
            entry.isBackground = attempt.isBackground
            if let error { entry.fail(TargetKitError(exchange: error, request: request.urlRequest)) }
            if let complete = attempt.end(entry, at: time) { output(complete) }
        }
        do {
            let response = try await next(request)
            end(response, nil)
            return response
        } catch {
            end(nil, error)
            throw error
        }
    }

    /// Ends the attempt.
    public func didReceive(_ result: Result<Response, TargetKitError>, context: RequestContext) {
        guard let attempt = context[attempt], attempt.call == context.id else { return }
        let (response, error) = result.parts
        let time = elapsedTime.current
        var last = attempt.finish(at: time)
        if let response, last == nil || response.origin.isCache {
            if let last { output(last) }
            last = answered(response, attempt.begin(context, at: time, isSent: false).start, until: time)
        } else if last == nil {
            let start = attempt.begin(context, at: time, isSent: false).start
            last = self.entry(start, .none, until: time, content(error?.request, of: context))
        }
        guard var entry = last else { return }
        if let response {
            entry.hop = max(entry.hop, response.redirects.count)
            for (hop, redirect) in attempt.unsent(of: response.redirects) {
                output(stored(redirect, hop: hop, attempt.begin(context, at: time, isSent: false).start))
            }
            entry.response?.origin = response.origin
            entry.isOpen = response.isStream && error == nil
        }
        if let error { entry.fail(error) }
        attempt.reported = entry
        output(entry)
    }

    /// Records a failure that follows the response, such as a body that couldn't be decoded.
    public func process(
        _ result: Result<Response, TargetKitError>,
        context: RequestContext
    ) async -> Result<Response, TargetKitError> {
        guard case .failure(let error) = result, let attempt = context[attempt], attempt.call == context.id,
            var entry = attempt.reported, entry.failure == nil
        else { return result }
        entry.fail(error)
        entry.isOpen = false
        update(entry, of: attempt)
        return result
    }

    /// Records the end of a stream, and calls without an exchange of their own.
    public func didFinish(_ call: FinishedCall, context: RequestContext) {
        guard let attempt = context[attempt], attempt.call == context.id else { return recordUnsent(call, context) }
        guard var entry = attempt.reported, entry.isOpen else { return }
        entry.isOpen = false
        entry.receiving = max(.zero, elapsedTime.current - (attempt.end ?? attempt.start))
        entry.duration += entry.receiving
        entry.response?.size = call.streamedByteCount
        if let error = call.result.parts.error { entry.fail(error) }
        update(entry, of: attempt)
    }
}

extension TargetKitError {
    /// The failure of an exchange.
    fileprivate init(exchange error: any Error, request: URLRequest) {
        if let error = error as? TargetKitError {
            self = error
        } else {
            let isCancellation = error is CancellationError || (error as? URLError)?.code == .cancelled
            self.init(stage: isCancellation ? .cancelled : .transport, request: request, underlying: error)
        }
    }
}
