// SPDX-License-Identifier: MIT
#if os(Linux)
import CTargetKitCurl

extension CurlTransfer {
    /// The metrics of the exchange that just ended.
    var metrics: TransportMetrics {
        let isReused = !hasOpenedConnection
        var address: UnsafeMutablePointer<CChar>?
        _ = ccurl_getinfo_string(easy, CURLINFO_PRIMARY_IP, &address)
        let secure = duration(CURLINFO_APPCONNECT_TIME_T)
        return TransportMetrics(
            nameLookup: isReused ? .zero : duration(CURLINFO_NAMELOOKUP_TIME_T),
            connect: isReused ? .zero : duration(CURLINFO_CONNECT_TIME_T),
            secureConnect: options.isSecure == true ? secure : nil,
            firstByte: duration(CURLINFO_STARTTRANSFER_TIME_T),
            total: duration(CURLINFO_TOTAL_TIME_T),
            bytesSent: offset(CURLINFO_SIZE_UPLOAD_T),
            bytesReceived: offset(CURLINFO_SIZE_DOWNLOAD_T),
            reusedConnection: isReused,
            httpVersion: head.httpVersion,
            trustedBlindly: options.isSecure == true && options.isTrustBlind,
            remoteAddress: address.flatMap { $0.pointee == 0 ? nil : String(cString: $0) }
        )
    }

    var hasOpenedConnection: Bool {
        var connections = 0
        _ = ccurl_getinfo_long(easy, CURLINFO_NUM_CONNECTS, &connections)
        return connections > 0
    }

    func offset(_ info: CURLINFO) -> Int64 {
        var value: curl_off_t = 0
        _ = ccurl_getinfo_offset(easy, info, &value)
        return Int64(value)
    }

    private func duration(_ info: CURLINFO) -> Duration {
        .microseconds(offset(info))
    }
}
#endif
