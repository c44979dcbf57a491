// SPDX-License-Identifier: MIT
#if os(Linux)
import CTargetKitCurl

extension CurlTransfer {
    /// The failure that libcurl's result code means in this exchange.
    func curlFailure(_ result: CURLcode) -> TransportFailure {
        let message = String(cString: errorBuffer)
        if let proxyFailure = proxy.failure(describedAs: message) { return proxyFailure }
        let text = message.isEmpty ? String(cString: curl_easy_strerror(result)) : message
        let code = TransportFailure.code(
            result,
            text: text,
            verification: number(CURLINFO_SSL_VERIFYRESULT),
            osError: Int32(number(CURLINFO_OS_ERRNO))
        )
        var failure = specificFailure(result, message: message) ?? TransportFailure(code, message: text)
        failure.note(result, text)
        if result == CURLE_SSL_PINNEDPUBKEYNOTMATCH {
            failure.info[NSUnderlyingErrorKey] = TLSPolicy.PinMismatch(host: current?.call.url.host ?? "")
        }
        return describingUnsentBody(failure)
    }

    /// A more specific failure than libcurl's result code.
    private func specificFailure(_ result: CURLcode, message: String) -> TransportFailure? {
        switch result {
        case CURLE_COULDNT_CONNECT, CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_SSL_CACERT_BADFILE:
            return isOutOfDescriptors ? .noDescriptors : refusedTunnel
        case CURLE_RECV_ERROR where message.hasPrefix("Too large response headers"): return .headTooLarge(nil)
        case CURLE_OUT_OF_MEMORY where (current?.call.headSize ?? 0) > 1_000_000:
            return .quotable(.badURL, "the URL and header fields of the request exceed libcurl's limit of 1 MiB")
        case CURLE_OUT_OF_MEMORY, TransportFailure.tooLarge, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_GOT_NOTHING:
            if message.lowercased().contains("out of memory in chunked") { return .headTooLarge(nil) }
            let isInHead = offset(CURLINFO_STARTTRANSFER_TIME_T) > 0 && !head.isComplete
            let isOverLimit = result == CURLE_OUT_OF_MEMORY || result == TransportFailure.tooLarge
            return isOverLimit && isInHead ? .headTooLarge(nil) : refusedTunnel ?? missingTLS(result)
        case CURLE_UNSUPPORTED_PROTOCOL: return missingTLS(result)
        case CURLE_WRITE_ERROR:
            return .bytesAfterCoding
        // The loop ends exchanges that exceed another limit.
        case CURLE_OPERATION_TIMEDOUT: return .unconnected(settings.configuration.connectTimeout)
        case CURLE_PROXY: return .quotable(.cannotConnectToHost, "the SOCKS proxy didn't open the connection")
        case CURLE_SSL_CONNECT_ERROR where Self.isPlain(message):
            let port = current?.call.url.port ?? 443
            return .quotable(.secureConnectionFailed, "the server doesn't use TLS on port \(port)")
        default: return nil
        }
    }

    /// Whether OpenSSL received data that isn't TLS.
    private static func isPlain(_ message: String) -> Bool {
        ["wrong version number", "http request", "packet length too long"].contains { message.contains($0) }
    }

    /// The failure if a host that never responded over HTTP may expect TLS. A server that does closes the connection, or
    /// sends an alert (RFC 8446 §6.2), which isn't HTTP.
    private func missingTLS(_ result: CURLcode) -> TransportFailure? {
        guard let call = current?.call, !call.address.isSecure, proxy.address.isEmpty, host?.hasResponded != true else {
            return nil
        }
        let advice = "; if port \(call.url.port ?? 80) uses TLS, call it with https"
        switch result {
        case CURLE_GOT_NOTHING,
            CURLE_RECV_ERROR where String(cString: errorBuffer).hasPrefix("Recv failure"):
            return .quotable(.networkConnectionLost, "the connection was closed without a response" + advice)
        case CURLE_UNSUPPORTED_PROTOCOL:
            return .quotable(.badServerResponse, "the response isn't HTTP" + advice)
        default: return nil
        }
    }

    /// The failure if the proxy didn't open the required tunnel (RFC 9110 §9.3.6).
    private var refusedTunnel: TransportFailure? {
        let status = number(CURLINFO_HTTP_CONNECTCODE)
        guard status != 0, !(200..<300).contains(status), head.statusCode == 0 else { return nil }
        return .refusedTunnel(status)
    }

    /// Whether the process is out of file descriptors. libcurl doesn't store the `errno` of a failed socket or name
    /// lookup.
    private var isOutOfDescriptors: Bool {
        let descriptor = dup(commandQueue.descriptor)
        if descriptor >= 0 {
            close(descriptor)
            return false
        }
        return errno == EMFILE || errno == ENFILE
    }

    private func number(_ info: CURLINFO) -> Int {
        var value = 0
        _ = ccurl_getinfo_long(easy, info, &value)
        return value
    }
}
#endif
