// SPDX-License-Identifier: MIT
#if !canImport(FoundationNetworking)
import Foundation

// Linux's Foundation collects no metrics.
extension URLSessionDesk {
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        guard let last = metrics.transactionMetrics.last else { return }
        var measured = TransportMetrics(last, total: metrics.taskInterval.duration)
        let url = last.request.url
        measured.trustedBlindly = url?.scheme == "https" && trustsBlindly(url?.host ?? "")
        keep(measured, of: task)
    }
}

extension TransportMetrics {
    /// What Foundation has measured of one exchange; `total` in seconds.
    init(_ measured: URLSessionTaskTransactionMetrics, total: TimeInterval) {
        let start = measured.fetchStartDate
        let since = { (date: Date?) -> Duration? in
            guard let start, let date else { return nil }
            return .seconds(date.timeIntervalSince(start))
        }
        self.init(
            nameLookup: since(measured.domainLookupEndDate),
            connect: measured.isReusedConnection ? .zero : since(measured.connectEndDate),
            secureConnect: since(measured.secureConnectionEndDate),
            firstByte: since(measured.responseStartDate),
            total: .seconds(total),
            bytesSent: measured.countOfRequestBodyBytesSent,
            bytesReceived: measured.countOfResponseBodyBytesReceived,
            reusedConnection: measured.isReusedConnection,
            httpVersion: Self.version(measured.networkProtocolName),
            remoteAddress: measured.remoteAddress
        )
    }

    /// ALPN's name of a protocol (RFC 7301 §6) as HTTP spells it.
    private static func version(_ name: String?) -> String {
        switch name {
        case "h2"?: "HTTP/2"
        case "h3"?: "HTTP/3"
        case "http/1.0"?: "HTTP/1.0"
        default: "HTTP/1.1"
        }
    }
}
#endif
