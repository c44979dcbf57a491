// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

extension HARPlugin {
    /// The attempt of an exchange. A background exchange has no `willSend`.
    func current(of context: RequestContext) -> TrafficAttempt {
        if let attempt = context[attempt], attempt.call == context.id { return attempt }
        let time = TrafficTime(date: now(), elapsed: elapsedTime.current)
        let attempt = TrafficAttempt(context, at: time, isBackground: true)
        context[self.attempt] = attempt
        return attempt
    }

    /// The request of an entry.
    ///
    /// - Parameter body: The body; default `nil`: the bytes in the request.
    func content(
        _ request: URLRequest?,
        _ body: TransportRequest.Body? = nil,
        of context: RequestContext
    ) -> HARContent {
        HARContent(
            request: request,
            body: body ?? request?.httpBody.map(TransportRequest.Body.data) ?? .none,
            redaction: redaction.adding(context.secretHeaders),
            bodyLimit: bodyLimit
        )
    }

    func entry(
        _ start: HAREntry.Start,
        _ source: HAREntry.Source,
        until end: Duration,
        _ content: HARContent
    ) -> HAREntry {
        let context = start.context
        let names = HAREntry.Names(
            provider: provider,
            scope: scopes.name(of: context.scope),
            target: context.target
        )
        return HAREntry(start, source: source, duration: max(.zero, end - start.time), names: names, content: content)
    }

    /// The entry of a response that didn't come from the transport.
    func answered(_ response: Response, _ start: HAREntry.Start, until end: Duration) -> HAREntry {
        let source: HAREntry.Source = response.origin.isCache ? .cache : response.isSample ? .stub : .plugin
        let context = start.context
        let content = content(response.request, context.bodyOutsideRequest, of: context)
        var entry = entry(start, source, until: end, content)
        entry.response = HARResponse(response, isTransferred: source == .stub)
        return entry
    }

    /// The entry of a redirect that a cache stored.
    func stored(_ redirect: Redirect, hop: Int, _ start: HAREntry.Start) -> HAREntry {
        let content = content(URLRequest(url: redirect.from), of: start.context)
        var entry = entry(start, .cache, until: start.time, content)
        entry.hop = hop
        let location: HTTPHeaders = ["Location": redirect.to.absoluteString]
        let response = Response(statusCode: redirect.statusCode, headers: location)
        entry.response = HARResponse(response, isTransferred: false)
        return entry
    }

    /// Records a call that shared the exchange of another one, or failed before it was sent.
    func recordUnsent(_ call: FinishedCall, _ context: RequestContext) {
        let (response, error) = call.result.parts
        let end = elapsedTime.current
        let date = now().addingTimeInterval(-call.duration.milliseconds / 1000)
        let time = TrafficTime(date: date, elapsed: max(.zero, end - call.duration))
        let start = TrafficAttempt(context, at: time).begin(context, at: end, isSent: false).start
        let isShared = context.options.sharesInFlight && (response != nil || error?.stage == .transport)
        let content = content(response?.request ?? error?.request, of: context)
        var entry = entry(start, isShared ? .shared : .none, until: end, content)
        entry.response = response.map { HARResponse($0, isTransferred: false) }
        if let error { entry.fail(error) }
        output(entry)
    }

    /// Reports an entry again.
    func update(_ entry: HAREntry, of attempt: TrafficAttempt) {
        var entry = entry
        entry.isUpdate = true
        attempt.reported = entry
        output(entry)
    }
}
